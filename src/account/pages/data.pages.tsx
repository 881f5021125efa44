import type { VNode } from 'preact'
import { type PageInteraction, type PageTenant, StepForm } from '../../pages/page-shell.pages.tsx'
import { AccountShell } from './account-shell.pages.tsx'

/** Offers what is stored about the user. Posts `step=download`. */
export const DataPage = ({ tenant, form }: { tenant: PageTenant; form: PageInteraction }): VNode => (
  <AccountShell
    tenant={tenant}
    title="Your data"
    lead="Your profile, sessions, sign-in methods, linked accounts and apps, in one file."
  >
    <StepForm interaction={form} step="download" class="stack">
      <button type="submit" class="primary">
        Download (JSON)
      </button>
    </StepForm>
    <p class="hint">Keep the file where only you can open it. It has no keys and no codes.</p>
  </AccountShell>
)
