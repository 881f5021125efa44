import type { VNode } from 'preact'
import { BidiText, ErrorMessage, StepForm } from '../../../pages/page-shell.pages.tsx'
import { SubmitButton } from '../../../pages/parts/controls.pages.tsx'
import { Message } from '../../../pages/parts/words.pages.tsx'
import { formatAddress } from '../step/address-texts.ts'
import { RestartForm, StepPage, type StepPageProps } from '../step/step-page.pages.tsx'

type PasswordPageProps = StepPageProps & {
  /** The address that was entered. */
  address: string
  /** The URL of the page for the code. */
  codePath: string
}

/**
 * Asks for the password of the system that the user comes from. The same for every address. Posts `step=password` and
 * `password`, `step=restart` or `step=cancel`.
 */
export const PasswordPage = ({ address, codePath, ...page }: PasswordPageProps): VNode => (
  <StepPage
    {...page}
    title={<Message of="password.title" />}
    lead={<Message of="password.lead" address={<BidiText>{formatAddress(address)}</BidiText>} />}
    alternatives={
      <>
        <a href={codePath}>
          <Message of="password.useCode" />
        </a>
        <RestartForm interaction={page.interaction} />
      </>
    }
  >
    <StepForm interaction={page.interaction} step="password" class="stack">
      {/* Password managers fill in the password of this address. */}
      <input type="hidden" name="username" autocomplete="username" value={address} />
      <div class="field">
        <label for="password">
          <Message of="password.label" />
        </label>
        <input
          id="password"
          name="password"
          type="password"
          autocomplete="current-password"
          required
          autofocus
          aria-invalid={page.error ? 'true' : undefined}
          aria-describedby={page.error ? 'password-error password-hint' : 'password-hint'}
        />
        {page.error && <ErrorMessage id="password-error">{page.error}</ErrorMessage>}
        <p class="hint" id="password-hint">
          <Message of="password.hint" />
        </p>
      </div>
      <SubmitButton of="action.continue" />
    </StepForm>
  </StepPage>
)
