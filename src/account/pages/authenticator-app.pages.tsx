import type { VNode } from 'preact'
import type { TotpEnrollment } from '../../credentials/totp-enrollment.ts'
import { TotpKey } from '../../credentials/totp-key.pages.tsx'
import { CodeForm } from '../../pages/code-form.pages.tsx'
import type { PageInteraction, PageTenant } from '../../pages/page-shell.pages.tsx'
import { AccountShell } from './account-shell.pages.tsx'

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
    title="Set up an authenticator app"
    lead="It shows codes that confirm that it’s you. An app that you set up earlier no longer works then."
    messages={messages}
  >
    <TotpKey enrollment={enrollment} />
    <CodeForm
      interaction={form}
      step="confirm"
      hidden={{ token: enrollment.token }}
      label="6-digit code that your app shows"
      digits={6}
      autofocus={false}
    />
  </AccountShell>
)
