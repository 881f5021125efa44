import type { VNode } from 'preact'
import { type PageInteraction, type PageTenant, StepForm } from '../../pages/page-shell.pages.tsx'
import { Message } from '../../pages/parts/words.pages.tsx'
import { AccountShell } from './account-shell.pages.tsx'

/** Offers what is stored about the user. Posts `step=download`. */
export const DataPage = ({ tenant, form }: { tenant: PageTenant; form: PageInteraction }): VNode => (
  <AccountShell tenant={tenant} title={<Message of="account.data" />} lead={<Message of="data.lead" />}>
    <StepForm interaction={form} step="download" class="stack">
      <button type="submit" class="primary">
        <Message of="data.download" />
      </button>
    </StepForm>
    <p class="hint">
      <Message of="data.hint" />
    </p>
  </AccountShell>
)
