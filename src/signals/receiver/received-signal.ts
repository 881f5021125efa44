import { InvalidInput } from '../../core/errors.ts'
import { isJsonObject } from '../../core/json/json-object.ts'
import type { IdentityProvider } from '../../generated/prisma/client.ts'
import { readJwtClaims } from '../../idps/answers/json.ts'
import { requireProvider } from '../../idps/external-identity.ts'
import { withinSignInDeadline } from '../../idps/provider/provider-deadline.ts'
import { verifySignature } from '../../idps/provider/provider-id-token.ts'

/** Errors of a receiver (RFC 8935, section 2.4). */
export type SignalFault =
  | 'invalid_request'
  | 'invalid_key'
  | 'invalid_issuer'
  | 'invalid_audience'
  | 'authentication_failed'

/** A token that is not accepted. */
export class RejectedSignal extends Error {
  readonly err: SignalFault

  constructor(err: SignalFault, description: string, cause?: unknown) {
    super(description, { cause })
    this.name = 'RejectedSignal'
    this.err = err
  }
}

/** An older token is rejected, so that its `jti` is stored for as long only. Transmitters repeat it for some days. */
export const MAX_SIGNAL_AGE_SECONDS = 7 * 86_400
const CLOCK_TOLERANCE_SECONDS = 30
const MAX_EVENTS = 10
const MAX_TEXT = 255

/** Whom a signal is about: a subject at the provider, one of its sessions there, or an address. */
export type SignalSubject = {
  issuer: string | null
  subject: string | null
  sid: string | null
  email: string | null
}
export type ReceivedSignal = SignalSubject & { type: string }
/** `issuer` is that of the identities of the provider; null for one that has several. */
export type ReceivedToken = { jti: string; issuedAt: Date; issuer: string | null; signals: ReceivedSignal[] }

const readText = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' && value.length <= MAX_TEXT && !value.includes('\0')
    ? value
    : null

const NOBODY: SignalSubject = { issuer: null, subject: null, sid: null, email: null }

/** The session of a complex subject: an opaque id, or an issuer and an id. */
const readSession = (value: unknown): string | null =>
  isJsonObject(value) ? (readText(value.id) ?? readText(value.sub)) : null

/**
 * Reads a subject (RFC 9493), also as drafts have it: `subject_type` for `format`, hyphens for underscores, and a complex one
 * without a format. Members that are of another kind are as if they were absent.
 */
export function readSubject(value: unknown): SignalSubject {
  if (!isJsonObject(value)) return NOBODY
  if (isJsonObject(value.user) || isJsonObject(value.session)) {
    const user = readSubject(value.user)
    return { ...user, sid: readSession(value.session) }
  }
  const format = String(value.format ?? value.subject_type).replaceAll('-', '_')
  switch (format) {
    case 'iss_sub':
    case 'id_token_claims':
      return { ...NOBODY, issuer: readText(value.iss), subject: readText(value.sub) }
    case 'email':
      return { ...NOBODY, email: readText(value.email) }
    case 'opaque':
      return { ...NOBODY, sid: readText(value.id) }
    default:
      return NOBODY
  }
}

/** Members of `events`, each with its subject: that of the token, or as drafts have it, of the event. */
function readSignals({ events, sub_id: subId }: Record<string, unknown>): ReceivedSignal[] {
  if (!isJsonObject(events)) throw new RejectedSignal('invalid_request', 'events must be an object')
  const entries = Object.entries(events)
  if (entries.length === 0 || entries.length > MAX_EVENTS)
    throw new RejectedSignal('invalid_request', `events must have 1 to ${MAX_EVENTS} members`)
  return entries.map(([type, event]) => {
    const own = isJsonObject(event) ? event.subject : undefined
    return { type, ...readSubject(subId ?? own) }
  })
}

/** The time of a token, within bounds. Throws RejectedSignal. */
function readTime({ iat }: Record<string, unknown>, now: Date): Date {
  const age = now.getTime() / 1000 - Number(iat)
  if (!(age <= MAX_SIGNAL_AGE_SECONDS)) throw new RejectedSignal('invalid_request', 'iat is too long ago')
  if (age < -CLOCK_TOLERANCE_SECONDS) throw new RejectedSignal('invalid_request', 'iat is in the future')
  return new Date(Number(iat) * 1000)
}

/** The errors of the verification, which quote nothing of the token. */
const toRejection = (error: unknown): unknown =>
  error instanceof InvalidInput
    ? new RejectedSignal('invalid_key', error.fields.map(({ description }) => description).join('; '), error)
    : error

/**
 * Verifies a security event token of a provider (RFC 8417; RFC 8935, section 2): signed by one of its keys, issued by its
 * `signalsIssuer` to our client or endpoint, not of another kind, and of the last seven days. Throws RejectedSignal, and
 * Unavailable when the keys cannot be fetched within 3 s.
 */
export async function verifySignal(
  row: IdentityProvider & { signalsIssuer: string },
  token: string,
  { endpoint, now = new Date() }: { endpoint: string; now?: Date },
): Promise<ReceivedToken> {
  const provider = requireProvider(row)
  const { protectedHeader } = await withinSignInDeadline(() =>
    verifySignature(provider, token, 'token', { requiredClaims: ['iss', 'aud', 'iat', 'jti', 'events'] }),
  ).catch((error) => {
    throw toRejection(error)
  })
  const claims = readJwtClaims(token)
  if (claims.iss !== row.signalsIssuer)
    throw new RejectedSignal('invalid_issuer', 'iss is not the signalsIssuer of the provider')
  const audience = [claims.aud].flat()
  if (!audience.some((each) => each === endpoint || (row.clientId !== null && each === row.clientId)))
    throw new RejectedSignal('invalid_audience', 'aud is neither the clientId nor the URL of the endpoint')
  // An ID token or a logout token of the same provider is none (SSF 1.0, sections 4.1.5 to 4.1.7).
  const typ = (protectedHeader.typ || 'JWT').toUpperCase().replace(/^APPLICATION\//, '')
  const isOfAnotherKind = ['sub', 'exp', 'nonce'].some((name) => claims[name] !== undefined)
  if (!['JWT', 'SECEVENT+JWT'].includes(typ) || isOfAnotherKind)
    throw new RejectedSignal('invalid_request', 'it is not a security event token')
  const jti = readText(claims.jti)
  if (jti === null)
    throw new RejectedSignal('invalid_request', 'jti must be a string of up to 255 characters')
  return { jti, issuedAt: readTime(claims, now), issuer: provider.issuer, signals: readSignals(claims) }
}
