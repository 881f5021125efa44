import type { VNode } from 'preact'
import { RecoveryCodeList } from '../../credentials/recovery-code-list.pages.tsx'
import { type PageInteraction, type PageTenant, StepForm } from '../../pages/page-shell.pages.tsx'
import { AccountShell } from './account-shell.pages.tsx'

type RecoveryCodesPageProps = {
  tenant: PageTenant
  form: PageInteraction
  notice?: string | null
  messages?: readonly string[]
}

/** Creates recovery codes, instead of earlier ones. Posts `step=create`. */
export const CreateRecoveryCodesPage = ({ tenant, form, ...shell }: RecoveryCodesPageProps): VNode => (
  <AccountShell
    tenant={tenant}
    title="Recovery codes"
    lead="If you lose the phone with your authenticator app, you sign in with one of ten codes."
    {...shell}
  >
    <p>Codes that you created earlier no longer work then.</p>
    <StepForm interaction={form} step="create" class="stack">
      <button type="submit" class="primary">
        Create recovery codes
      </button>
    </StepForm>
  </AccountShell>
)

/** Shows new recovery codes, once. */
export const NewRecoveryCodesPage = ({
  tenant,
  codes,
}: {
  tenant: PageTenant
  codes: readonly string[]
}): VNode => (
  <AccountShell
    tenant={tenant}
    title="Save your recovery codes"
    lead="If you lose your phone, sign in with one of these codes. Each works once."
  >
    <RecoveryCodeList codes={codes} />
  </AccountShell>
)
