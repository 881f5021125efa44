import type { VNode } from 'preact'
import { markSecret } from '../../pages/parts/page-secret.pages.tsx'
import { Message, Paragraph, useWords } from '../../pages/parts/words.pages.tsx'
import type { TotpEnrollment } from './totp-enrollment.ts'

/** The key in groups of four, as apps show it. */
const formatSecret = (secret: string): string => secret.replace(/.{4}(?=.)/g, '$& ')

const toImageUrl = (svg: string): string => `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`

/** The key of an authenticator app: as a QR code, as a link and as text. */
export const TotpKey = ({
  enrollment: { secret, uri, qrCode },
}: {
  enrollment: Pick<TotpEnrollment, 'secret' | 'uri' | 'qrCode'>
}): VNode => {
  markSecret()
  return (
    <>
      <Paragraph of="setup.scan" />
      <img
        class="qr"
        src={toImageUrl(qrCode)}
        alt={useWords().text('setup.qrCode')}
        width={200}
        height={200}
      />
      <p>
        <Message of="setup.onThisDevice" link={(parts) => <a href={uri}>{parts}</a>} />
        <br />
        <code class="key">{formatSecret(secret)}</code>
      </p>
    </>
  )
}
