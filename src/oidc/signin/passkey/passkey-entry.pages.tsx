import type { VNode } from 'preact'
import { PASSKEY_SCRIPT_PATH } from '../../../pages/assets/passkey-script.ts'
import { ErrorMessage, type PageInteraction, StepForm } from '../../../pages/page-shell.pages.tsx'
import { type StayChoice, StaySignedInBox } from '../../../pages/stay-signed-in.pages.tsx'
import { Message, useWords } from '../../../pages/words.pages.tsx'

type PasskeyEntryProps = {
  interaction: PageInteraction
  options: { challenge: string; rpId: string; timeout: number }
  /** The request accepts no other method. */
  isOnly: boolean
  /** The error, as a sentence. */
  error?: string | null
  /** The id of a passkey that the browser presented and that does not exist any more. */
  unknownPasskey?: string
  stay?: StayChoice | null
}

/**
 * The passkey's part of the first page: a button, and the offer in the address field. Its script posts
 * `step=passkey` and `assertion`. Hidden until the script runs in a browser that has passkeys.
 */
export function PasskeyEntry({
  interaction,
  options,
  isOnly,
  error,
  unknownPasskey,
  stay,
}: PasskeyEntryProps): VNode {
  const { text } = useWords()
  return (
    <>
      {isOnly && (
        <p>
          <Message of="passkey.only" />
        </p>
      )}
      {error && <ErrorMessage>{error}</ErrorMessage>}
      <noscript>
        <p class="hint">
          <Message of="passkey.signInScript" />
        </p>
      </noscript>
      <div
        id="passkey"
        hidden
        data-challenge={options.challenge}
        data-rp-id={options.rpId}
        data-timeout={options.timeout}
        data-unknown={unknownPasskey}
        data-messages={JSON.stringify({
          NotAllowedError: text('script.useCanceled'),
          SecurityError: text('script.useInsecure'),
          other: text('script.failed'),
        })}
      >
        <StepForm interaction={interaction} step="passkey" class="stack">
          <input type="hidden" name="assertion" />
          <StaySignedInBox stay={stay} />
          <button type="button" id="passkey-button" class={isOnly ? 'primary' : 'secondary'}>
            <Message of="passkey.signIn" />
          </button>
          <div id="passkey-error" role="alert" />
        </StepForm>
      </div>
      <script src={PASSKEY_SCRIPT_PATH} defer />
    </>
  )
}
