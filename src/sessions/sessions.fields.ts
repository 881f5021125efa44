import { isIP } from 'node:net'
import { z } from 'zod'
import { boolean, integer, requiredText, text } from '../fields.ts'

/** 90 days, the longest that a session can be started for or refreshed by. */
const MAX_EXPIRATION_MINUTES = 129_600

/** Minutes until a session ends; 0 when omitted. */
export const sessionExpirationMinutes = integer(0, MAX_EXPIRATION_MINUTES)
  .nullish()
  .transform((value) => value ?? 0)

/** GraphQL sends null for what is not given, REST leaves it out. */
const optional = <Shape extends z.ZodType>(shape: Shape) =>
  shape.nullish().transform((value) => value ?? null)

/**
 * What the caller knows of the person's request (spec: request metadata, used for fraud detection). deviceToken is
 * opaque and not kept: nothing evaluates it yet.
 */
export const RequestMetadata = z
  .strictObject({
    deviceToken: optional(text(2000)),
    userAgent: optional(text(500)),
    ipAddress: optional(text(100).refine((value) => isIP(value) !== 0, 'must be an IPv4 or IPv6 address')),
  })
  .nullish()
  .transform((value) => value ?? { deviceToken: null, userAgent: null, ipAddress: null })

export const AuthenticateSession = z.strictObject({
  sessionToken: requiredText(1000),
  clientId: optional(text(200)),
  sessionExpirationMinutes,
  rotateSessionToken: boolean.nullish().transform((value) => value ?? false),
  metadata: RequestMetadata,
})

/** Every field of a session, in the order of the specification. */
export const SESSION_FIELDS = [
  'id',
  'userId',
  'clientId',
  'lastSeenAt',
  'lastSeenIp',
  'lastSeenLocation',
  'userAgent',
  'expiresAt',
  'updatedAt',
  'createdAt',
] as const
type SessionField = (typeof SESSION_FIELDS)[number]

/** A session as REST answers it, null where unset. */
export const toSession = <Row extends Record<SessionField, unknown>>(session: Row) =>
  Object.fromEntries(SESSION_FIELDS.map((field) => [field, session[field]])) as Pick<Row, SessionField>
