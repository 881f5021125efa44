import { issuerOf } from '../core/issuer.ts'
import { toEpochSeconds } from '../core/time.ts'
import type { LogEvent } from '../events/log.ts'
import { getClaimName } from '../model/profile-fields.ts'
import { CLAIM_DEFINITIONS, type ClaimsUser } from '../users/claims.ts'
import { SIGNALS } from './signal-types.ts'

/** What is known about the user of an event, for one client. */
export type SignalUser = {
  /** The scopes that the client was granted: claims and addresses are sent only within these. */
  scopes: readonly string[]
  /** The user as of now; null after a deletion. */
  user: ClaimsUser | null
}
export type FormerAddress = { kind: string; former: string; current: string | null }

/** An event of a token: its URI, its subject (RFC 9493), and its members. */
export type Signal = { type: string; subId: object; detail: object }

/** The log event types from which signals are made. */
const SOURCES = [
  'session.ended',
  'credential.enrolled',
  'credential.revoked',
  'user.updated',
  'user.locked',
  'user.unlocked',
  'user.deleted',
] as const
type Source = (typeof SOURCES)[number]
export type SourceEvent = LogEvent & { type: Source; userId: string }

export const isSource = (event: LogEvent): event is SourceEvent =>
  event.userId !== null && SOURCES.some((type) => type === event.type)

/** Types of credentials (CAEP 1.0, section 3.3.1); recovery codes have no name there. */
const CREDENTIAL_TYPES: Record<string, string> = { 'public-key': 'fido2-platform', totp: 'app' }

const readDetail = (event: LogEvent, name: string): unknown =>
  (event.detail as Record<string, unknown> | null)?.[name]

/** Who caused the event (CAEP 1.0, section 2). A session that expires ends by the policy of the tenant. */
function findInitiator(event: SourceEvent): 'user' | 'admin' | 'policy' | 'system' {
  const { actorUserId, actorClientId, actorApiKeyId, userId } = event
  const reason = event.type === 'session.ended' ? readDetail(event, 'reason') : null
  if (reason === 'expired') return 'policy'
  if (reason === 'logout' || actorUserId === userId) return 'user'
  return (actorUserId ?? actorClientId ?? actorApiKeyId) ? 'admin' : 'system'
}

/** The claims of OpenID Connect that a changed field is in. */
function listClaims(field: string): string[] {
  if (field === 'email') return ['email', 'email_verified']
  if (field === 'phoneNumber') return ['phone_number', 'phone_number_verified']
  if (field.startsWith('address')) return ['address']
  const name = { emailVerified: 'email_verified', phoneNumberVerified: 'phone_number_verified' }[field]
  return [name ?? getClaimName(field as never)].filter((claim) => Object.hasOwn(CLAIM_DEFINITIONS, claim))
}

/** The new values of the claims that the client gets and that the event has changed; null for a removed one. */
function buildChangedClaims({ changedFields }: LogEvent, { user, scopes }: SignalUser): object | null {
  if (!user) return null
  const claims = [...new Set(changedFields.flatMap(listClaims))].flatMap((claim) => {
    const definition = CLAIM_DEFINITIONS[claim]
    return definition && scopes.includes(definition.scope) ? [[claim, definition.resolve(user)]] : []
  })
  return claims.length > 0 ? Object.fromEntries(claims) : null
}

/** The former addresses as subjects (RISC 1.0, section 2.5), of those that the client knows. */
const buildIdentifierChanges = (addresses: readonly FormerAddress[], scopes: readonly string[]): Signal[] =>
  addresses
    .filter(({ kind }) => scopes.includes(kind))
    .map(({ kind, former, current }) => ({
      type: SIGNALS.identifierChanged,
      subId:
        kind === 'email'
          ? { format: 'email', email: former }
          : { format: 'phone_number', phone_number: former },
      detail: current === null ? {} : { 'new-value': current },
    }))

/** The signals of an event of the log about a user of a client. */
export function buildSignals(
  tenant: string,
  event: SourceEvent,
  about: SignalUser,
  addresses: readonly FormerAddress[],
): Signal[] {
  const user = { format: 'iss_sub', iss: issuerOf(tenant), sub: event.userId }
  const common = {
    event_timestamp: toEpochSeconds(event.occurredAt),
    initiating_entity: findInitiator(event),
  }
  const ofUser = (type: string, detail: object): Signal[] => [{ type, subId: user, detail }]
  switch (event.type) {
    case 'session.ended':
      return [
        {
          type: SIGNALS.sessionRevoked,
          subId: { format: 'complex', user, session: { format: 'opaque', id: event.sessionId } },
          detail: { ...common, reason_admin: { en: String(readDetail(event, 'reason')) } },
        },
      ]
    case 'credential.enrolled':
    case 'credential.revoked': {
      const type = String(readDetail(event, 'type') ?? 'public-key')
      return ofUser(SIGNALS.credentialChange, {
        ...common,
        credential_type: CREDENTIAL_TYPES[type] ?? type,
        change_type: event.type === 'credential.enrolled' ? 'create' : 'revoke',
      })
    }
    case 'user.updated': {
      const claims = buildChangedClaims(event, about)
      return [
        ...(claims ? ofUser(SIGNALS.tokenClaimsChange, { ...common, claims }) : []),
        ...buildIdentifierChanges(addresses, about.scopes),
      ]
    }
    case 'user.locked':
      return ofUser(SIGNALS.accountDisabled, {})
    case 'user.unlocked':
      return ofUser(SIGNALS.accountEnabled, {})
    case 'user.deleted':
      return ofUser(SIGNALS.accountPurged, {})
  }
}
