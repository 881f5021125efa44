import type { VNode } from 'preact'
import { CODE_SCRIPT_PATH } from '../../../pages/assets/code-script.ts'
import {
  BidiText,
  ErrorMessage,
  type PageClient,
  type PageInteraction,
  PageShell,
  type PageTenant,
  StepForm,
} from '../../../pages/page-shell.pages.tsx'
import { CancelForm } from '../cancel.pages.tsx'
import { formatAddress } from './address-texts.ts'
import { ResendForm } from './resend-form.pages.tsx'

type CodePageProps = {
  tenant: PageTenant
  client: PageClient
  interaction: PageInteraction
  /** The address that the code was sent to: an e-mail address as entered, or a phone number in E.164. */
  address: string
  /** The code was sent whether or not a user has the address. */
  isSent?: boolean
  error?: string | null
  /** The number of digits of the code. */
  digits?: 6 | 10
  /** When a new code can be requested; omitted when it can be now. */
  resendAllowedAt?: Date | null
  /** The user may sign in by another method: the way back to the first page says so. */
  offersOtherWay?: boolean
  now?: Date
}

/**
 * Asks for the code. Posts `step=code` and `code`, or `step=resend`, `step=restart` for another address, or
 * `step=cancel`.
 */
export function CodePage({
  tenant,
  client,
  interaction,
  address,
  isSent = false,
  error,
  digits = 6,
  resendAllowedAt,
  offersOtherWay,
  now = new Date(),
}: CodePageProps): VNode {
  const isNumber = !address.includes('@')
  return (
    <PageShell
      title="Enter your code"
      lead={
        isSent ? (
          <>
            We sent a code to <BidiText>{formatAddress(address)}</BidiText>.
          </>
        ) : (
          <>
            If <BidiText>{formatAddress(address)}</BidiText> can sign in, a code is on its way.
          </>
        )
      }
      tenant={tenant}
      client={client}
      isError={Boolean(error)}
    >
      <StepForm interaction={interaction} step="code" class="stack">
        <div class="field">
          <label for="code">{digits}-digit code</label>
          <input
            id="code"
            name="code"
            class="code-input"
            type="text"
            inputMode="numeric"
            autocomplete="one-time-code"
            spellcheck={false}
            dir="ltr"
            data-digits={digits}
            required
            autofocus
            aria-invalid={error ? 'true' : undefined}
            aria-describedby={error ? 'code-error code-hint' : 'code-hint'}
          />
          {error && <ErrorMessage id="code-error">{error}</ErrorMessage>}
          <p class="hint" id="code-hint">
            {isNumber
              ? 'It works for 10 minutes.'
              : 'It works for 10 minutes. Look in your spam folder, too.'}
          </p>
        </div>
        <button type="submit" class="primary">
          {isSent ? 'Continue' : 'Sign in'}
        </button>
      </StepForm>
      <div class="alternatives">
        <ResendForm {...{ interaction, resendAllowedAt, now }} />
        <StepForm interaction={interaction} step="restart">
          <button type="submit" class="quiet">
            {offersOtherWay
              ? 'Sign in another way'
              : isNumber
                ? 'Wrong number? Change it'
                : 'Use another address'}
          </button>
        </StepForm>
        <CancelForm interaction={interaction} />
      </div>
      <script src={CODE_SCRIPT_PATH} defer />
    </PageShell>
  )
}
