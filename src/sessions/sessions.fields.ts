import { z } from 'zod'
import { boolean, integer, requiredText, text } from '../fields.ts'
import { normalIp } from '../ip.ts'
import { clientId, idOf, time, toBodyOf } from '../shapes.ts'
import { UserShape } from '../users/users.fields.ts'

/** 90 days, the longest that a session can be started for or refreshed by. */
const MAX_EXPIRATION_MINUTES = 129_600

/** Minutes until a session ends; 0 when omitted. */
export const sessionExpirationMinutes = integer(0, MAX_EXPIRATION_MINUTES)
  .nullish()
  .transform((value) => value ?? 0)

/** GraphQL sends null for what is not given, REST leaves it out. */
const optional = <Shape extends z.ZodType>(shape: Shape) =>
  shape.nullish().transform((value) => value ?? null)

/** An address in any spelling, to the one that is stored. */
export const ipAddress = text(100).transform((value, context) => {
  const ip = normalIp(value)
  if (ip === null) context.addIssue('must be an IPv4 or IPv6 address')
  return ip ?? z.NEVER
})

const requestMetadata = z
  .strictObject({
    deviceToken: optional(text(2000)).meta({ description: 'Opaque token of the device.' }),
    userAgent: optional(text(500)).meta({
      description: 'User-Agent of the browser or application.',
      example: 'Mozilla/5.0 (X11; Linux x86_64) Firefox/145.0',
    }),
    ipAddress: optional(ipAddress).meta({
      description: 'IPv4 or IPv6 address of the person.',
      example: '203.0.113.7',
    }),
  })
  .meta({
    id: 'RequestMetadata',
    description: "What the caller knows of the person's request; used to detect fraud.",
  })

/**
 * What the caller knows of the person's request (spec: request metadata, used for fraud detection). deviceToken is
 * opaque and not kept: nothing evaluates it yet.
 */
export const RequestMetadata = requestMetadata
  .nullish()
  .transform((value) => value ?? { deviceToken: null, userAgent: null, ipAddress: null })
  .meta({ description: "The person's request." })

export const AuthenticateSession = z
  .strictObject({
    sessionToken: requiredText(1000).meta({
      description: 'The session token.',
      example: '3q2-7wQkXy0mFjZ8m1cV5bT9rLh4sGdP6uNaEoKiWxY',
    }),
    clientId: optional(text(200)).meta({
      description: 'Required, and equal, when the session was started through OIDC.',
    }),
    sessionExpirationMinutes: sessionExpirationMinutes.meta({
      description: 'Moves the end of a refreshable session to so many minutes from now; 0 to 129600.',
      example: 60,
    }),
    rotateSessionToken: boolean
      .nullish()
      .transform((value) => value ?? false)
      .meta({
        description:
          'Answers a new token; the old one works 10 s longer, and a retry with it answers the same.',
        example: true,
      }),
    metadata: RequestMetadata,
  })
  .meta({ id: 'AuthenticateSession', description: 'A session token to authenticate.' })

/** A session as REST answers it: every field, in the order of the specification, null where unset. */
export const SessionShape = z
  .object({
    id: idOf('session'),
    userId: idOf('user'),
    clientId: clientId.nullable(),
    lastSeenAt: time.nullable(),
    lastSeenIp: z.string().nullable().meta({ example: '203.0.113.7' }),
    lastSeenLocation: z.string().nullable().meta({ example: 'Vienna, Austria' }),
    userAgent: z.string().nullable().meta({ example: 'Mozilla/5.0 (X11; Linux x86_64) Firefox/145.0' }),
    expiresAt: time.meta({ example: '2026-11-20T10:30:00.000Z' }),
    updatedAt: time,
    createdAt: time,
  })
  .meta({ id: 'Session', model: 'Session' })

export const toSession = toBodyOf(SessionShape)

/** What authenticating a session token or a passcode answers. */
export const AuthenticatedSessionShape = z
  .object({
    session: SessionShape.nullable().meta({ description: 'The session; null when none was asked for.' }),
    sessionToken: z.string().nullable().meta({
      description: 'The token of a new session, or the new one of a rotated session; else null.',
      example: 'pV4rXcM0yqTe7uLk2sJdH9nBw5gFaZ8oR1iKtQ6vYxE',
    }),
    user: UserShape,
  })
  .meta({ id: 'AuthenticatedSession', description: 'Who was authenticated, and the session.' })
