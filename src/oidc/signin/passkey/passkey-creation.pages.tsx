import type { ComponentChildren, VNode } from 'preact'
import { PASSKEY_CREATION_SCRIPT_PATH } from '../../../pages/assets/passkey-creation-script.ts'
import { BidiText, ErrorMessage, type PageInteraction, StepForm } from '../../../pages/page-shell.pages.tsx'
import { StepButton } from '../../../pages/parts/controls.pages.tsx'
import { type AcceptedPasskeys, PasskeySignal } from '../../../pages/parts/passkey-signal.pages.tsx'
import { ScriptedPart, WithoutScript } from '../../../pages/parts/scripted-part.pages.tsx'
import { Hint, Message, Paragraph, useWords } from '../../../pages/parts/words.pages.tsx'
import { StepPage, type StepPageProps } from '../step/step-page.pages.tsx'

type PasskeyCreationProps = {
  interaction: PageInteraction
  /** PublicKeyCredentialCreationOptionsJSON (WebAuthn Level 3, section 5.1.8). */
  options: object
  error?: string | null
  /** What follows the button. */
  children?: ComponentChildren
}

/**
 * The part of a page that creates a passkey. Its script posts `step=create-passkey` and `registration`. The button is
 * hidden until the script runs.
 */
export function PasskeyCreation({ interaction, options, error, children }: PasskeyCreationProps): VNode {
  const { text } = useWords()
  return (
    <>
      {error && <ErrorMessage>{error}</ErrorMessage>}
      <WithoutScript>
        <Hint of="passkey.createScript" />
      </WithoutScript>
      <div class="stack">
        <ScriptedPart
          id="passkey-creation"
          data-options={JSON.stringify(options)}
          data-messages={JSON.stringify({
            NotAllowedError: text('script.createCanceled'),
            InvalidStateError: text('script.createKnown'),
            NotSupportedError: text('script.createUnsupported'),
            SecurityError: text('script.createInsecure'),
            ConstraintError: text('script.createUnlocked'),
            other: text('script.failedOther'),
          })}
        >
          <StepForm interaction={interaction} step="create-passkey" class="stack">
            <input type="hidden" name="registration" />
            <button type="button" id="passkey-creation-button" class="primary">
              <Message of="passkey.create" />
            </button>
            <div id="passkey-creation-error" role="alert" />
          </StepForm>
        </ScriptedPart>
        {children}
      </div>
      <script src={PASSKEY_CREATION_SCRIPT_PATH} defer />
    </>
  )
}

type PasskeyOfferPageProps = StepPageProps & {
  /** The address or name of the account. */
  label: string
  /** PublicKeyCredentialCreationOptionsJSON (WebAuthn Level 3, section 5.1.8). */
  options: object
  /** The user presented a passkey that is not accepted any more. */
  isReplacement?: boolean
  accepted?: AcceptedPasskeys | null
}

/**
 * Offers a passkey to a user who has signed in by another method. Posts `step=later`; the script posts
 * `step=create-passkey` and `registration`. The button is hidden until the script runs.
 */
export const PasskeyOfferPage = ({
  label,
  options,
  isReplacement,
  accepted,
  ...page
}: PasskeyOfferPageProps): VNode => (
  <StepPage
    {...page}
    title={<Message of={isReplacement ? 'offer.replaceTitle' : 'offer.title'} />}
    lead={<Message of="offer.lead" label={<BidiText>{label}</BidiText>} />}
  >
    <Paragraph of={isReplacement ? 'offer.replaceText' : 'offer.text'} />
    <PasskeyCreation interaction={page.interaction} options={options} error={page.error}>
      <StepButton
        interaction={page.interaction}
        step="later"
        class="stack"
        of="action.notNow"
        look="secondary"
      />
    </PasskeyCreation>
    <PasskeySignal accepted={accepted} />
  </StepPage>
)
