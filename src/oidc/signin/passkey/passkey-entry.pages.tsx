import type { VNode } from 'preact'
import { PASSKEY_SCRIPT_PATH } from '../../../pages/assets/passkey-script.ts'
import { ErrorMessage, type PageInteraction, StepForm } from '../../../pages/page-shell.pages.tsx'

type PasskeyEntryProps = {
  interaction: PageInteraction
  options: { challenge: string; rpId: string; timeout: number }
  /** The request accepts no other method. */
  isOnly: boolean
  /** The error, as a sentence. */
  error?: string | null
  /** The id of a passkey that the browser presented and that does not exist any more. */
  unknownPasskey?: string
}

/**
 * The passkey's part of the first page: a button, and the offer in the address field. Its script posts
 * `step=passkey` and `assertion`. Hidden until the script runs in a browser that has passkeys.
 */
export const PasskeyEntry = ({
  interaction,
  options,
  isOnly,
  error,
  unknownPasskey,
}: PasskeyEntryProps): VNode => (
  <>
    {isOnly && <p>Only a passkey is accepted here.</p>}
    {error && <ErrorMessage>{error}</ErrorMessage>}
    <noscript>
      <p class="hint">Signing in with a passkey needs JavaScript.</p>
    </noscript>
    <div
      id="passkey"
      hidden
      data-challenge={options.challenge}
      data-rp-id={options.rpId}
      data-timeout={options.timeout}
      data-unknown={unknownPasskey}
    >
      <StepForm interaction={interaction} step="passkey" class="stack">
        <input type="hidden" name="assertion" />
        <button type="button" id="passkey-button" class={isOnly ? 'primary' : 'secondary'}>
          Sign in with a passkey
        </button>
        <div id="passkey-error" role="alert" />
      </StepForm>
    </div>
    <script src={PASSKEY_SCRIPT_PATH} defer />
  </>
)
