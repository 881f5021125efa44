import type { VNode } from 'preact'
import { ErrorMessage, type PageInteraction, StepForm } from '../../../pages/page-shell.pages.tsx'

type AddressEntryProps = {
  interaction: PageInteraction
  /** The entered or the expected address. */
  address?: string | null
  /** The error, as a sentence. */
  error?: string | null
}

/**
 * The passcode's part of the first page: asks for the address. Posts `step=email` and `address`. Browsers that
 * have a passkey offer it in this field (WebAuthn Level 3, section 5.1.4).
 */
export const AddressEntry = ({ interaction, address, error }: AddressEntryProps): VNode => (
  <StepForm interaction={interaction} step="email" class="stack">
    <div class="field">
      <label for="address">Email address</label>
      <input
        id="address"
        name="address"
        type="email"
        inputMode="email"
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
        We’ll send you a code to sign in with. No password needed.
      </p>
    </div>
    <button type="submit" class="primary">
      Continue
    </button>
  </StepForm>
)
