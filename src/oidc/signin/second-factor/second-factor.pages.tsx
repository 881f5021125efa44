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

type SecondFactorPageProps = {
  tenant: PageTenant
  client: PageClient
  interaction: PageInteraction
  /** The address or name of the account. */
  label: string
  /** The URL of the page for the other second factor. */
  otherPath: string
  error?: string | null
}

/** The texts and the field of each second factor. */
const KINDS = {
  totp: {
    title: 'Enter the code of your app',
    label: '6-digit code',
    hint: 'Open your authenticator app. It shows a new code every 30 seconds.',
    other: 'Use a recovery code',
    inputMode: 'numeric',
    autocomplete: 'one-time-code',
  },
  recovery: {
    title: 'Enter a recovery code',
    label: 'Recovery code',
    hint: 'Each of your recovery codes works once.',
    other: 'Use your authenticator app',
    inputMode: 'text',
    autocomplete: 'off',
  },
} as const

type Kind = keyof typeof KINDS

const createSecondFactorPage =
  (kind: Kind) =>
  ({ tenant, client, interaction, label, otherPath, error }: SecondFactorPageProps): VNode => {
    const text = KINDS[kind]
    return (
      <PageShell
        title={text.title}
        lead={
          <>
            To sign in as <BidiText>{label}</BidiText>, confirm that it’s you.
          </>
        }
        tenant={tenant}
        client={client}
        isError={Boolean(error)}
      >
        <StepForm interaction={interaction} step={kind} class="stack">
          <div class="field">
            <label for="code">{text.label}</label>
            <input
              id="code"
              name="code"
              class={kind === 'totp' ? 'code-input' : undefined}
              type="text"
              inputMode={text.inputMode}
              autocomplete={text.autocomplete}
              autocapitalize="none"
              spellcheck={false}
              dir="ltr"
              data-digits={kind === 'totp' ? 6 : undefined}
              required
              autofocus
              aria-invalid={error ? 'true' : undefined}
              aria-describedby={error ? 'code-error code-hint' : 'code-hint'}
            />
            {error && <ErrorMessage id="code-error">{error}</ErrorMessage>}
            <p class="hint" id="code-hint">
              {text.hint}
            </p>
          </div>
          <button type="submit" class="primary">
            Continue
          </button>
        </StepForm>
        <div class="alternatives">
          <a href={otherPath}>{text.other}</a>
          <StepForm interaction={interaction} step="restart">
            <button type="submit" class="quiet">
              Sign in another way
            </button>
          </StepForm>
          <CancelForm interaction={interaction} />
        </div>
        {kind === 'totp' && <script src={CODE_SCRIPT_PATH} defer />}
      </PageShell>
    )
  }

/** Asks for the code of the authenticator app. Posts `step=totp` and `code`, `step=restart` or `step=cancel`. */
export const TotpPage = createSecondFactorPage('totp')

/** Asks for a recovery code. Posts `step=recovery` and `code`, `step=restart` or `step=cancel`. */
export const RecoveryCodePage = createSecondFactorPage('recovery')
