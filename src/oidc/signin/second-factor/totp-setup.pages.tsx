import type { VNode } from 'preact'
import type { TotpEnrollment } from '../../../credentials/totp-enrollment.ts'
import { CODE_SCRIPT_PATH } from '../../../pages/assets/code-script.ts'
import {
  ErrorMessage,
  type PageClient,
  type PageInteraction,
  PageShell,
  type PageTenant,
  StepForm,
} from '../../../pages/page-shell.pages.tsx'
import { CancelForm } from '../cancel.pages.tsx'

type PageProps = { tenant: PageTenant; client: PageClient; interaction: PageInteraction }

/** The key in groups of four, as apps show it. */
const formatSecret = (secret: string): string => secret.replace(/.{4}(?=.)/g, '$& ')

const toImageUrl = (svg: string): string => `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`

/**
 * Lets a user set up an authenticator app, which the sign-in requires. Posts `step=totp` and `code`, `step=restart`
 * or `step=cancel`.
 */
export const TotpSetupPage = ({
  tenant,
  client,
  interaction,
  enrollment: { secret, uri, qrCode },
  error,
}: PageProps & { enrollment: TotpEnrollment; error?: string | null }): VNode => (
  <PageShell
    title="Set up an authenticator app"
    lead="From now on, you confirm with an app that it’s you."
    tenant={tenant}
    client={client}
    isError={Boolean(error)}
  >
    <p>Open your authenticator app and scan this code.</p>
    <img
      class="qr"
      src={toImageUrl(qrCode)}
      alt="QR code for your authenticator app"
      width={200}
      height={200}
    />
    <p>
      On this device? <a href={uri}>Open your app</a>, or enter this key:
      <br />
      <code class="key">{formatSecret(secret)}</code>
    </p>
    <StepForm interaction={interaction} step="totp" class="stack">
      <div class="field">
        <label for="code">6-digit code that your app shows</label>
        <input
          id="code"
          name="code"
          class="code-input"
          type="text"
          inputMode="numeric"
          autocomplete="one-time-code"
          spellcheck={false}
          dir="ltr"
          data-digits={6}
          required
          aria-invalid={error ? 'true' : undefined}
          aria-describedby={error ? 'code-error' : undefined}
        />
        {error && <ErrorMessage id="code-error">{error}</ErrorMessage>}
      </div>
      <button type="submit" class="primary">
        Continue
      </button>
    </StepForm>
    <div class="alternatives">
      <StepForm interaction={interaction} step="restart">
        <button type="submit" class="quiet">
          Sign in another way
        </button>
      </StepForm>
      <CancelForm interaction={interaction} />
    </div>
    <script src={CODE_SCRIPT_PATH} defer />
  </PageShell>
)

/** Shows new recovery codes. Posts `step=codes-saved`. */
export const RecoveryCodesPage = ({
  tenant,
  client,
  interaction,
  codes,
}: PageProps & { codes: string[] }): VNode => (
  <PageShell
    title="Save your recovery codes"
    lead="If you lose your phone, sign in with one of these codes. Each works once."
    tenant={tenant}
    client={client}
  >
    <ul class="recovery-codes">
      {codes.map((code) => (
        <li key={code}>
          <code>{code}</code>
        </li>
      ))}
    </ul>
    <p class="hint">Print them, or keep them in a password manager. We don’t show them again.</p>
    <StepForm interaction={interaction} step="codes-saved" class="stack">
      <button type="submit" class="primary">
        I have saved them
      </button>
    </StepForm>
  </PageShell>
)
