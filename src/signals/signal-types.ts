/** The URIs of the types of events (SSF 1.0, section 8.1.4; CAEP 1.0, section 3; RISC 1.0, section 2). */
const SSF = 'https://schemas.openid.net/secevent/ssf/event-type/'
const CAEP = 'https://schemas.openid.net/secevent/caep/event-type/'
const RISC = 'https://schemas.openid.net/secevent/risc/event-type/'

export const SIGNALS = {
  verification: `${SSF}verification`,
  streamUpdated: `${SSF}stream-updated`,
  sessionRevoked: `${CAEP}session-revoked`,
  credentialChange: `${CAEP}credential-change`,
  tokenClaimsChange: `${CAEP}token-claims-change`,
  accountDisabled: `${RISC}account-disabled`,
  accountEnabled: `${RISC}account-enabled`,
  accountPurged: `${RISC}account-purged`,
  identifierChanged: `${RISC}identifier-changed`,
} as const

/** Those of the framework are sent to every stream, and receivers do not request them. */
const FRAMEWORK: readonly string[] = [SIGNALS.verification, SIGNALS.streamUpdated]

/** The events that a receiver can request. */
export const SUPPORTED_SIGNALS: readonly string[] = Object.values(SIGNALS).filter(
  (uri) => !FRAMEWORK.includes(uri),
)

/** The events that a stream has: all, where the receiver requested none by name. */
export const listDelivered = (requested: readonly string[]): string[] =>
  requested.length === 0 ? [...SUPPORTED_SIGNALS] : SUPPORTED_SIGNALS.filter((uri) => requested.includes(uri))

/** The methods of delivery (SSF 1.0, section 6.1), by the value of the column. */
export const DELIVERY_METHODS = {
  push: 'urn:ietf:rfc:8935',
  poll: 'urn:ietf:rfc:8936',
} as const
export type Delivery = keyof typeof DELIVERY_METHODS

/** States of a stream (SSF 1.0, section 8.1.2). */
export const STREAM_STATUSES = ['enabled', 'paused', 'disabled'] as const
export type StreamStatus = (typeof STREAM_STATUSES)[number]
