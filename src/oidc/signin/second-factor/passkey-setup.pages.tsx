import type { VNode } from 'preact'
import { PasskeyCreation } from '../passkey/passkey-creation.pages.tsx'
import { RestartForm } from '../step/restart.pages.tsx'
import { StepPage, type StepPageProps } from '../step/step-page.pages.tsx'

type PasskeySetupPageProps = StepPageProps & {
  /** PublicKeyCredentialCreationOptionsJSON (WebAuthn Level 3, section 5.1.8). */
  options: object
  /** The URL of the page for an authenticator app. */
  otherPath: string
}

/**
 * Lets a user create a passkey, which is required. Posts `step=create-passkey` and `registration`, `step=restart` or
 * `step=cancel`.
 */
export const PasskeySetupPage = ({ options, otherPath, ...page }: PasskeySetupPageProps): VNode => (
  <StepPage
    {...page}
    title="Create a passkey"
    lead="From now on, you confirm with it that it’s you."
    alternatives={
      <>
        <a href={otherPath}>Use an authenticator app instead</a>
        <RestartForm interaction={page.interaction} />
      </>
    }
  >
    <p>
      A passkey stays on your device or in your password manager. You unlock it the way you unlock the device:
      with your fingerprint, your face or a PIN.
    </p>
    <PasskeyCreation interaction={page.interaction} options={options} error={page.error} />
  </StepPage>
)
