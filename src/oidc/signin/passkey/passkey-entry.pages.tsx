import type { VNode } from 'preact'
import { PASSKEY_SCRIPT_PATH } from '../../../pages/assets/passkey-script.ts'
import {
  BidiText,
  ErrorMessage,
  getTenantName,
  type PageClient,
  type PageInteraction,
  type PageTenant,
  StepForm,
} from '../../../pages/page-shell.pages.tsx'
import { ScriptedPart, WithoutScript } from '../../../pages/parts/scripted-part.pages.tsx'
import { type StayChoice, StaySignedInBox } from '../../../pages/parts/stay-signed-in.pages.tsx'
import { Hint, Message, Paragraph, useWords } from '../../../pages/parts/words.pages.tsx'
import { createMethodsLink } from '../step/step-page.pages.tsx'

/** Why a user must have a passkey, and how one who has none gets it. */
type PasskeyDemand = {
  tenant: PageTenant
  client: PageClient
  /** The tenant has other ways to sign in, by which the user creates a passkey on the account pages. */
  hasOtherWays: boolean
}

type PasskeyEntryProps = {
  interaction: PageInteraction
  options: { challenge: string; rpId: string; timeout: number }
  /** The request accepts no other method. */
  isOnly: boolean
  /** Unless the passkey is a second factor, which the user has. */
  demand?: PasskeyDemand | null
  /** The error, as a sentence. */
  error?: string | null
  /** The id of a passkey that the browser presented and that does not exist any more. */
  unknownPasskey?: string
  stay?: StayChoice | null
}

/** Says why only a passkey is accepted, and leads on a user who has none. */
const PasskeyDemandNote = ({
  demand: { tenant, client, hasOtherWays },
}: {
  demand: PasskeyDemand
}): VNode => (
  <div class="stack">
    <p>
      {hasOtherWays ? (
        <Message of="passkey.demanded" client={<BidiText>{client.name}</BidiText>} />
      ) : (
        <Message of="passkey.only" />
      )}
    </p>
    <p class="hint">
      {hasOtherWays ? (
        <Message of="passkey.createFirst" link={createMethodsLink(tenant)} />
      ) : (
        <Message of="passkey.askForLink" tenant={<BidiText>{getTenantName(tenant)}</BidiText>} />
      )}
    </p>
  </div>
)

/**
 * The passkey's part of the first page: a button, and the offer in the address field. Its script posts
 * `step=passkey` and `assertion`. Hidden until the script runs in a browser that has passkeys.
 */
export function PasskeyEntry({
  interaction,
  options,
  isOnly,
  demand,
  error,
  unknownPasskey,
  stay,
}: PasskeyEntryProps): VNode {
  const { text } = useWords()
  return (
    <>
      {isOnly && !demand && <Paragraph of="passkey.only" />}
      {isOnly && demand && <PasskeyDemandNote demand={demand} />}
      {error && <ErrorMessage>{error}</ErrorMessage>}
      <WithoutScript>
        <Hint of="passkey.signInScript" />
      </WithoutScript>
      <ScriptedPart
        id="passkey"
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
      </ScriptedPart>
      <script src={PASSKEY_SCRIPT_PATH} defer />
    </>
  )
}
