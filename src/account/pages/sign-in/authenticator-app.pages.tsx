import type { VNode } from 'preact'
import type { TotpEnrollment } from '../../../credentials/second-factors/totp-enrollment.ts'
import { TotpKey } from '../../../credentials/second-factors/totp-key.pages.tsx'
import type { PageInteraction, PageTenant } from '../../../pages/page-shell.pages.tsx'
import { CodeForm } from '../../../pages/parts/code-form.pages.tsx'
import { Message } from '../../../pages/parts/words.pages.tsx'
import { AccountShell } from '../account-shell.pages.tsx'

type AuthenticatorAppPageProps = {
  tenant: PageTenant
  form: PageInteraction
  enrollment: TotpEnrollment
  messages?: readonly string[]
}

/** Sets up an authenticator app, instead of an earlier one. Posts `step=confirm`, `token` and `code`. */
export const AuthenticatorAppPage = ({
  tenant,
  form,
  enrollment,
  messages,
}: AuthenticatorAppPageProps): VNode => (
  <AccountShell
    tenant={tenant}
    title={<Message of="setup.totpTitle" />}
    lead={<Message of="totp.lead" />}
    messages={messages}
  >
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
