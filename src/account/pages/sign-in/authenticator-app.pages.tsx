import type { VNode } from 'preact'
import { RecoveryCodeList } from '../../../credentials/second-factors/recovery-code-list.pages.tsx'
import type { TotpEnrollment } from '../../../credentials/second-factors/totp-enrollment.ts'
import { TotpKey } from '../../../credentials/second-factors/totp-key.pages.tsx'
import { CodeForm } from '../../../pages/parts/code-form.pages.tsx'
import { StepButton } from '../../../pages/parts/controls.pages.tsx'
import { Message, Paragraph } from '../../../pages/parts/words.pages.tsx'
import { type AccountPageProps, AccountShell } from '../account-shell.pages.tsx'

/** Sets up an authenticator app, instead of an earlier one. Posts `step=confirm`, `token` and `code`. */
export const AuthenticatorAppPage = ({
  form,
  enrollment,
  ...shell
}: AccountPageProps & { enrollment: TotpEnrollment }): VNode => (
  <AccountShell {...shell} title="setup.totpTitle" lead={<Message of="totp.lead" />}>
    <TotpKey enrollment={enrollment} />
    <CodeForm
      interaction={form}
      step="confirm"
      hidden={{ token: enrollment.token }}
      label={<Message of="setup.totpLabel" digits={6} />}
      digits={6}
      autofocus={false}
    />
  </AccountShell>
)

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
