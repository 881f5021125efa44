import type { VNode } from 'preact'
import { RecoveryCodeList } from '../../../credentials/second-factors/recovery-code-list.pages.tsx'
import { StepButton } from '../../../pages/parts/controls.pages.tsx'
import { Message, Paragraph } from '../../../pages/parts/words.pages.tsx'
import { type AccountPageProps, AccountShell } from '../account-shell.pages.tsx'

/** Creates recovery codes, instead of earlier ones. Posts `step=create`. */
export const CreateRecoveryCodesPage = ({ form, ...shell }: AccountPageProps): VNode => (
  <AccountShell {...shell} title="methods.recovery-codes" lead={<Message of="codes.lead" />}>
    <Paragraph of="codes.text" />
    <StepButton interaction={form} step="create" class="stack" of="methods.createCodes" />
  </AccountShell>
)

type NewRecoveryCodesPageProps = Pick<AccountPageProps, 'tenant'> & { codes: readonly string[] }

/** Shows new recovery codes, once. */
export const NewRecoveryCodesPage = ({ tenant, codes }: NewRecoveryCodesPageProps): VNode => (
  <AccountShell tenant={tenant} title="setup.codesTitle" lead={<Message of="setup.codesLead" />}>
    <RecoveryCodeList codes={codes} />
  </AccountShell>
)
