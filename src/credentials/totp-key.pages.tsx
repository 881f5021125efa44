import type { VNode } from 'preact'
import type { TotpEnrollment } from './totp-enrollment.ts'

/** The key in groups of four, as apps show it. */
const formatSecret = (secret: string): string => secret.replace(/.{4}(?=.)/g, '$& ')

const toImageUrl = (svg: string): string => `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`

/** The key of an authenticator app: as a QR code, as a link and as text. */
export const TotpKey = ({
  enrollment: { secret, uri, qrCode },
}: {
  enrollment: Pick<TotpEnrollment, 'secret' | 'uri' | 'qrCode'>
}): VNode => (
  <>
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
  </>
)
