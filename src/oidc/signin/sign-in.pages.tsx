import type { VNode } from 'preact'
import {
  BidiText,
  ErrorMessage,
  type PageClient,
  type PageInteraction,
  PageShell,
  type PageTenant,
  StepForm,
} from '../../pages/page-shell.pages.tsx'
import type { InputRejection } from '../interactions/interactions.ts'
import { CancelForm } from './cancel.pages.tsx'

type EmailPageProps = {
  tenant: PageTenant
  client: PageClient
  interaction: PageInteraction
  /** The entered or the expected address. */
  address?: string | null
  /** The error, as a sentence. */
  error?: string | null
}

/** Asks for the address to sign in with. Posts `step=email` and `address`, or `step=cancel`. */
export const EmailPage = ({ tenant, client, interaction, address, error }: EmailPageProps): VNode => (
  <PageShell
    title="Sign in"
    lead={
      <>
        to continue to <BidiText>{client.name}</BidiText>
      </>
    }
    tenant={tenant}
    client={client}
    isError={Boolean(error)}
  >
    <StepForm interaction={interaction} step="email" class="stack">
      <div class="field">
        <label for="address">Email address</label>
        <input
          id="address"
          name="address"
          type="email"
          inputMode="email"
          autocomplete="email"
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
    <div class="alternatives">
      <CancelForm interaction={interaction} />
    </div>
  </PageShell>
)

type CodePageProps = {
  tenant: PageTenant
  client: PageClient
  interaction: PageInteraction
  /** The address that the code was sent to, as entered. */
  address: string
  error?: string | null
  /** The number of digits of the code. */
  digits?: 6 | 10
  /** When a new code can be requested; omitted when it can be now. */
  resendAllowedAt?: Date | null
  now?: Date
}

/** The wait until a new code can be requested, in words; null when there is none. */
export function formatWait(resendAllowedAt: Date | null | undefined, now: Date): string | null {
  const seconds = Math.ceil(((resendAllowedAt?.getTime() ?? 0) - now.getTime()) / 1000)
  if (seconds <= 0) return null
  const [count, unit] = seconds <= 90 ? [seconds, 'second'] : [Math.ceil(seconds / 60), 'minute']
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}

const CODE_PROBLEMS = {
  wrong: 'That code is wrong. Check it, and use the newest message.',
  expired: 'That code has expired or was used. Request a new one.',
  exhausted: 'Too many attempts with this code. It no longer works: request a new one.',
}

/** The message about a rejected input. */
export function describeInputRejection({ reason, retryAt }: InputRejection, now = new Date()): string {
  if (reason === 'address') return 'Enter an email address, such as you@example.com.'
  if (reason !== 'attempts') return CODE_PROBLEMS[reason]
  const wait = formatWait(retryAt ? new Date(retryAt) : null, now)
  return `Too many attempts. Try again${wait ? ` in ${wait}` : ''}.`
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
  error,
  digits = 6,
  resendAllowedAt,
  now = new Date(),
}: CodePageProps): VNode {
  const wait = formatWait(resendAllowedAt, now)
  return (
    <PageShell
      title="Enter your code"
      lead={
        <>
          If <BidiText>{address}</BidiText> can sign in, a code is on its way.
        </>
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
            required
            autofocus
            aria-invalid={error ? 'true' : undefined}
            aria-describedby={error ? 'code-error code-hint' : 'code-hint'}
          />
          {error && <ErrorMessage id="code-error">{error}</ErrorMessage>}
          <p class="hint" id="code-hint">
            It works for 10 minutes. Look in your spam folder, too.
          </p>
        </div>
        <button type="submit" class="primary">
          Sign in
        </button>
      </StepForm>
      <div class="alternatives">
        <div>
          <StepForm interaction={interaction} step="resend">
            <button type="submit" class="quiet" aria-describedby={wait ? 'resend-wait' : undefined}>
              Send a new code
            </button>
          </StepForm>
          {wait && (
            <p class="hint" id="resend-wait">
              You can request a new code in {wait}.
            </p>
          )}
        </div>
        <StepForm interaction={interaction} step="restart">
          <button type="submit" class="quiet">
            Use another address
          </button>
        </StepForm>
        <CancelForm interaction={interaction} />
      </div>
    </PageShell>
  )
}
