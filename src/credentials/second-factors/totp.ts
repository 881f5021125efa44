import { randomBytes } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'
import { encode } from 'uqr'
import { cleanTypedCode } from '../../core/typed-text.ts'

/** Seconds of a time step (RFC 6238, section 4.1: X). */
export const TIME_STEP_SECONDS = 30
/** Time steps that the clock of the app may be off, either way (RFC 6238, section 5.2). */
const WINDOW = 1
/** Bytes of a key: the length of the output of SHA-1 (RFC 4226, section 4, R6). */
const KEY_BYTES = 20
/** Apps ignore other values, so these are those of every app. */
const PARAMETERS = { algorithm: 'SHA1', digits: 6, period: TIME_STEP_SECONDS }

/** The purpose of a sealed key. Moved to another credential or tenant, it cannot be decrypted. */
export const toTotpPurpose = (tenant: string, credentialId: string): string =>
  `totp:${tenant}:${credentialId}`

/** A new key, in base32 (RFC 4648, section 6) as people enter it. */
export const createTotpSecret = (): string =>
  new Secret({ buffer: new Uint8Array(randomBytes(KEY_BYTES)).buffer }).base32

/** The names that the app shows. */
export type TotpLabels = { issuer: string; accountName: string }

/** The URI that apps read from a QR code (Key Uri Format of Google Authenticator). */
export const buildTotpUri = (secret: string, { issuer, accountName }: TotpLabels): string =>
  // A colon separates issuer and account.
  new TOTP({
    ...PARAMETERS,
    secret,
    issuer: issuer.replaceAll(':', ' '),
    label: accountName.replaceAll(':', ' '),
  }).toString()

/** The dark modules of a row of a QR code as lines of an SVG path, which is far shorter than a square each. */
function drawRow(row: readonly boolean[], y: number): string {
  const runs = [
    ...row
      .map((isDark) => (isDark ? '1' : '0'))
      .join('')
      .matchAll(/1+/g),
  ]
  return runs.map((run) => `M${run.index} ${y}.5h${run[0].length}`).join('')
}

/** The QR code of a text as SVG, with the quiet zone of four modules (ISO/IEC 18004). */
export function renderQrCode(text: string): string {
  const { data, size } = encode(text, { ecc: 'L', border: 4 })
  const path = data.map(drawRow).join('')
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${size}v${size}H0z"/><path stroke="#000" d="${path}"/></svg>`
}

/** The time step of which this is the code, within the window; null for a wrong code. */
export function matchTimeStep(secret: string, code: string, now: Date): number | null {
  const token = cleanTypedCode(code)
  if (!/^\d{6}$/.test(token)) return null
  const timestamp = now.getTime()
  const delta = TOTP.validate({
    ...PARAMETERS,
    token,
    secret: Secret.fromBase32(secret),
    timestamp,
    window: WINDOW,
  })
  return delta === null ? null : TOTP.counter({ period: TIME_STEP_SECONDS, timestamp }) + delta
}
