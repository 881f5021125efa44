import type { ComponentChildren, VNode } from 'preact'
import { PASSKEY_CREATION_SCRIPT_PATH } from '../../../pages/assets/passkey-creation-script.ts'
import { ErrorMessage, type PageInteraction, StepForm } from '../../../pages/page-shell.pages.tsx'
import { ScriptedPart, WithoutScript } from '../../../pages/parts/scripted-part.pages.tsx'
import { Hint, Message, useWords } from '../../../pages/parts/words.pages.tsx'

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
