import type { VNode } from 'preact'
import type { TotpEnrollment } from '../../../credentials/totp-enrollment.ts'
import { StepForm } from '../../../pages/page-shell.pages.tsx'
import { CodeForm, RestartForm } from '../step/code-form.pages.tsx'
import { StepPage, type StepPageProps } from '../step/step-page.pages.tsx'

/** The key in groups of four, as apps show it. */
const formatSecret = (secret: string): string => secret.replace(/.{4}(?=.)/g, '$& ')

const toImageUrl = (svg: string): string => `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`

type TotpSetupPageProps = StepPageProps & {
  enrollment: TotpEnrollment
  /** The URL of the page for a passkey; null where passkeys are not accepted. */
  passkeyPath: string | null
}

/**
 * Lets a user set up an authenticator app, which the sign-in requires. Posts `step=totp` and `code`, `step=restart`
 * or `step=cancel`.
 */
export const TotpSetupPage = ({
  enrollment: { secret, uri, qrCode },
  passkeyPath,
  ...page
}: TotpSetupPageProps): VNode => (
  <StepPage
    {...page}
    title="Set up an authenticator app"
    lead="From now on, you confirm with an app that it’s you."
    alternatives={
      <>
        {passkeyPath && <a href={passkeyPath}>Create a passkey instead</a>}
        <RestartForm interaction={page.interaction} />
      </>
    }
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
    <CodeForm
      interaction={page.interaction}
      step="totp"
      label="6-digit code that your app shows"
      digits={6}
      error={page.error}
      autofocus={false}
    />
  </StepPage>
)

/** Shows new recovery codes. Posts `step=codes-saved`. */
export const RecoveryCodesPage = ({ codes, ...page }: StepPageProps & { codes: string[] }): VNode => (
  <StepPage
    {...page}
    title="Save your recovery codes"
    lead="If you lose your phone, sign in with one of these codes. Each works once."
  >
    <ul class="recovery-codes">
      {codes.map((code) => (
        <li key={code}>
          <code>{code}</code>
        </li>
      ))}
    </ul>
    <p class="hint">Print them, or keep them in a password manager. We don’t show them again.</p>
    <StepForm interaction={page.interaction} step="codes-saved" class="stack">
      <button type="submit" class="primary">
        I have saved them
      </button>
    </StepForm>
  </StepPage>
)
