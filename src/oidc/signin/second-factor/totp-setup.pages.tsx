import type { VNode } from 'preact'
import { RecoveryCodeList } from '../../../credentials/recovery-code-list.pages.tsx'
import type { TotpEnrollment } from '../../../credentials/totp-enrollment.ts'
import { TotpKey } from '../../../credentials/totp-key.pages.tsx'
import { CodeForm } from '../../../pages/code-form.pages.tsx'
import { StepForm } from '../../../pages/page-shell.pages.tsx'
import { RestartForm } from '../step/restart.pages.tsx'
import { StepPage, type StepPageProps } from '../step/step-page.pages.tsx'

type TotpSetupPageProps = StepPageProps & {
  enrollment: TotpEnrollment
  /** The URL of the page for a passkey; null where passkeys are not accepted. */
  passkeyPath: string | null
}

/**
 * Lets a user set up an authenticator app, which the sign-in requires. Posts `step=totp` and `code`, `step=restart`
 * or `step=cancel`.
 */
export const TotpSetupPage = ({ enrollment, passkeyPath, ...page }: TotpSetupPageProps): VNode => (
  <StepPage
    {...page}
    title="Set up an authenticator app"
    lead="From now on, you confirm with an app that it’s you."
    alternatives={
      <>
        {passkeyPath && <a href={passkeyPath}>Create a passkey instead</a>}
        <RestartForm interaction={page.interaction} />
      </>
    }
  >
    <TotpKey enrollment={enrollment} />
    <CodeForm
      interaction={page.interaction}
      step="totp"
      label="6-digit code that your app shows"
      digits={6}
      error={page.error}
      autofocus={false}
    />
  </StepPage>
)

/** Shows new recovery codes. Posts `step=codes-saved`. */
export const RecoveryCodesPage = ({ codes, ...page }: StepPageProps & { codes: string[] }): VNode => (
  <StepPage
    {...page}
    title="Save your recovery codes"
    lead="If you lose your phone, sign in with one of these codes. Each works once."
  >
    <RecoveryCodeList codes={codes} />
    <StepForm interaction={page.interaction} step="codes-saved" class="stack">
      <button type="submit" class="primary">
        I have saved them
      </button>
    </StepForm>
  </StepPage>
)
