import type { VNode } from 'preact'
import { RecoveryCodeList } from '../../../credentials/second-factors/recovery-code-list.pages.tsx'
import { type PageInteraction, type PageTenant, StepForm } from '../../../pages/page-shell.pages.tsx'
import { Message } from '../../../pages/parts/words.pages.tsx'
import { AccountShell } from '../account-shell.pages.tsx'
import type { Notice } from '../notices.ts'

type RecoveryCodesPageProps = {
  tenant: PageTenant
  form: PageInteraction
  notice?: Notice | null
  messages?: readonly string[]
}

/** Creates recovery codes, instead of earlier ones. Posts `step=create`. */
export const CreateRecoveryCodesPage = ({ tenant, form, ...shell }: RecoveryCodesPageProps): VNode => (
  <AccountShell
    tenant={tenant}
    title={<Message of="methods.recovery-codes" />}
    lead={<Message of="codes.lead" />}
    {...shell}
  >
    <p>
      <Message of="codes.text" />
    </p>
    <StepForm interaction={form} step="create" class="stack">
      <button type="submit" class="primary">
        <Message of="methods.createCodes" />
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
    title={<Message of="setup.codesTitle" />}
    lead={<Message of="setup.codesLead" />}
  >
    <RecoveryCodeList codes={codes} />
  </AccountShell>
)
