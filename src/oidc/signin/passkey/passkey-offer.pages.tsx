import type { VNode } from 'preact'
import { PASSKEY_OFFER_SCRIPT_PATH } from '../../../pages/assets/passkey-offer-script.ts'
import { BidiText, ErrorMessage, StepForm } from '../../../pages/page-shell.pages.tsx'
import { type AcceptedPasskeys, PasskeySignal } from '../../../pages/passkey-signal.pages.tsx'
import { StepPage, type StepPageProps } from '../step/step-page.pages.tsx'

type PasskeyOfferPageProps = StepPageProps & {
  /** The address or name of the account. */
  label: string
  /** PublicKeyCredentialCreationOptionsJSON (WebAuthn Level 3, section 5.1.8). */
  options: object
  accepted?: AcceptedPasskeys | null
}

/**
 * Offers a passkey to a user who has signed in by another method. Posts `step=later`; the script posts
 * `step=create-passkey` and `registration`. The button is hidden until the script runs.
 */
export const PasskeyOfferPage = ({ label, options, accepted, ...page }: PasskeyOfferPageProps): VNode => (
  <StepPage
    {...page}
    title="Sign in faster next time"
    lead={
      <>
        You are signed in as <BidiText>{label}</BidiText>.
      </>
    }
  >
    <p>
      With a passkey you need no code. You unlock it the way you unlock this device: with your fingerprint,
      your face or a PIN.
    </p>
    {page.error && <ErrorMessage>{page.error}</ErrorMessage>}
    <noscript>
      <p class="hint">Creating a passkey needs JavaScript.</p>
    </noscript>
    <div class="stack">
      <div id="passkey-offer" data-options={JSON.stringify(options)} hidden>
        <StepForm interaction={page.interaction} step="create-passkey" class="stack">
          <input type="hidden" name="registration" />
          <button type="button" id="passkey-offer-button" class="primary">
            Create a passkey
          </button>
          <div id="passkey-offer-error" role="alert" />
        </StepForm>
      </div>
      <StepForm interaction={page.interaction} step="later" class="stack">
        <button type="submit" class="secondary">
          Not now
        </button>
      </StepForm>
    </div>
    <PasskeySignal accepted={accepted} />
    <script src={PASSKEY_OFFER_SCRIPT_PATH} defer />
  </StepPage>
)
