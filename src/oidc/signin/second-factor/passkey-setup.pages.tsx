import type { VNode } from 'preact'
import { Message, Paragraph } from '../../../pages/parts/words.pages.tsx'
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
    title={<Message of="setup.passkeyTitle" />}
    lead={<Message of="setup.passkeyLead" />}
    alternatives={
      <>
        <a href={otherPath}>
          <Message of="setup.totpInstead" />
        </a>
        <RestartForm interaction={page.interaction} />
      </>
    }
  >
    <Paragraph of="setup.passkeyText" />
    <PasskeyCreation interaction={page.interaction} options={options} error={page.error} />
  </StepPage>
)
