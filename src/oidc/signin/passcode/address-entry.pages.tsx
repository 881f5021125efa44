import type { ComponentChildren, VNode } from 'preact'
import type { Channel } from '../../../model/sign-in-methods.ts'
import { ErrorMessage, type PageInteraction, StepForm } from '../../../pages/page-shell.pages.tsx'
import { SubmitButton } from '../../../pages/parts/controls.pages.tsx'
import { type StayChoice, StaySignedInBox } from '../../../pages/parts/stay-signed-in.pages.tsx'
import { Message } from '../../../pages/parts/words.pages.tsx'
import { getEntryTexts } from '../step/address-texts.ts'

type AddressEntryProps = {
  interaction: PageInteraction
  /** How codes are sent: by e-mail, by text message, or either. */
  channels: readonly Channel[]
  /** The entered or the expected address. */
  address?: string | null
  /** What the address is used for, in sentences. */
  hint: ComponentChildren
  /** The error, as a sentence. */
  error?: string | null
  stay?: StayChoice | null
}

/**
 * The passcode's part of the first page: asks for the address. Posts `step=email` and `address`. Browsers that
 * have a passkey offer it in this field (WebAuthn Level 3, section 5.1.4).
 */
export function AddressEntry({
  interaction,
  channels,
  address,
  hint,
  error,
  stay,
}: AddressEntryProps): VNode {
  const { label, type } = getEntryTexts(channels)
  return (
    <StepForm interaction={interaction} step="email" class="stack">
      <div class="field">
        <label for="address">
          <Message of={label} />
        </label>
        <input
          id="address"
          name="address"
          type={type}
          list={undefined}
          inputMode={type === 'tel' ? 'tel' : 'email'}
          autocomplete="username webauthn"
          autocapitalize="none"
          spellcheck={false}
          dir="auto"
          required
          // The only input of the page.
          autofocus
          value={address ?? ''}
          aria-invalid={error ? 'true' : undefined}
          aria-describedby={error ? 'address-error address-hint' : 'address-hint'}
        />
        {error && <ErrorMessage id="address-error">{error}</ErrorMessage>}
        <p class="hint" id="address-hint">
          {hint}
        </p>
      </div>
      <StaySignedInBox stay={stay} />
      <SubmitButton of="action.continue" />
    </StepForm>
  )
}
