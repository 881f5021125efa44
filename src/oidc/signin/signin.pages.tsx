import type { VNode } from 'preact'
import {
  Fault,
  Given,
  type PageClient,
  type PageInteraction,
  PageShell,
  type PageTenant,
  StepForm,
} from '../pages/page-shell.pages.tsx'
import type { Refusal } from './interactions.ts'

type EmailPageProps = {
  tenant: PageTenant
  client: PageClient
  interaction: PageInteraction
  /** What was entered before, or is expected to be. */
  address?: string | null
  /** What is wrong, as a sentence. */
  fault?: string | null
}

/** Asks for the address to sign in with. Posts `step=email` and `address`. */
export const EmailPage = ({ tenant, client, interaction, address, fault }: EmailPageProps): VNode => (
  <PageShell
    title="Sign in"
    lead={
      <>
        to continue to <Given>{client.name}</Given>
      </>
    }
    tenant={tenant}
    client={client}
    faulty={Boolean(fault)}
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
          // The page's only question; whoever comes here came to answer it.
          autofocus
          value={address ?? ''}
          aria-invalid={fault ? 'true' : undefined}
          aria-describedby={fault ? 'address-fault address-hint' : 'address-hint'}
        />
        {fault && <Fault id="address-fault">{fault}</Fault>}
        <p class="hint" id="address-hint">
          We’ll send you a code to sign in with. No password needed.
        </p>
      </div>
      <button type="submit" class="primary">
        Continue
      </button>
    </StepForm>
  </PageShell>
)

type CodePageProps = {
  tenant: PageTenant
  client: PageClient
  interaction: PageInteraction
  /** Where the code went, as entered. */
  address: string
  fault?: string | null
  /** When a new code can be asked for; left out when it can be now. */
  resendAllowedAt?: Date | null
  now?: Date
}

/** When a new code can be had, in words; null when it can be had now. */
export function waitWords(resendAllowedAt: Date | null | undefined, now: Date): string | null {
  const seconds = Math.ceil(((resendAllowedAt?.getTime() ?? 0) - now.getTime()) / 1000)
  if (seconds <= 0) return null
  const [count, unit] = seconds <= 90 ? [seconds, 'second'] : [Math.ceil(seconds / 60), 'minute']
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}

/** What a person is told of a refused input. */
export function refusalWords({ reason, retryAt }: Refusal, now = new Date()): string {
  if (reason === 'address') return 'Enter an email address, such as you@example.com.'
  if (reason === 'code') return 'That code is wrong or has expired. Check it, or ask for a new one.'
  const wait = waitWords(retryAt ? new Date(retryAt) : null, now)
  return `Too many attempts. Try again${wait ? ` in ${wait}` : ''}.`
}

/** Asks for the code. Posts `step=code` and `code`, or `step=resend`, or `step=restart` for another address. */
export function CodePage({
  tenant,
  client,
  interaction,
  address,
  fault,
  resendAllowedAt,
  now = new Date(),
}: CodePageProps): VNode {
  const wait = waitWords(resendAllowedAt, now)
  return (
    <PageShell
      title="Enter your code"
      lead={
        <>
          If <Given>{address}</Given> can sign in, a code is on its way.
        </>
      }
      tenant={tenant}
      client={client}
      faulty={Boolean(fault)}
    >
      <StepForm interaction={interaction} step="code" class="stack">
        <div class="field">
          <label for="code">6-digit code</label>
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
            aria-invalid={fault ? 'true' : undefined}
            aria-describedby={fault ? 'code-fault code-hint' : 'code-hint'}
          />
          {fault && <Fault id="code-fault">{fault}</Fault>}
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
              You can ask for a new code in {wait}.
            </p>
          )}
        </div>
        <StepForm interaction={interaction} step="restart">
          <button type="submit" class="quiet">
            Use another address
          </button>
        </StepForm>
      </div>
    </PageShell>
  )
}
