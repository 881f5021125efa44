import type { VNode } from 'preact'
import type { TotpEnrollment } from '../../../credentials/second-factors/totp-enrollment.ts'
import { TotpKey } from '../../../credentials/second-factors/totp-key.pages.tsx'
import { CodeForm } from '../../../pages/parts/code-form.pages.tsx'
import { Message } from '../../../pages/parts/words.pages.tsx'
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
