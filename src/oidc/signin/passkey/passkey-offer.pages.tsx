import type { VNode } from 'preact'
import { BidiText } from '../../../pages/page-shell.pages.tsx'
import { StepButton } from '../../../pages/parts/controls.pages.tsx'
import { type AcceptedPasskeys, PasskeySignal } from '../../../pages/parts/passkey-signal.pages.tsx'
import { Message, Paragraph } from '../../../pages/parts/words.pages.tsx'
import { StepPage, type StepPageProps } from '../step/step-page.pages.tsx'
import { PasskeyCreation } from './passkey-creation.pages.tsx'

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
