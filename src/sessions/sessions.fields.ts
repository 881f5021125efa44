import * as z from 'zod'
import { normalizeIp } from '../core/network/ip.ts'
import {
  METHOD_DESCRIPTIONS,
  SECOND_FACTOR_DESCRIPTIONS,
  type SecondFactorName,
  type SignInMethodName,
} from '../model/sign-in-methods.ts'
import { defineEnum } from '../schema/enums.ts'
import { textIn, toAnswerText } from '../schema/formats.ts'
import { boolean, integer, requiredText, text } from '../schema/input-shapes.ts'
import {
  asId,
  clientIdShape,
  createBodyMapper,
  createIdShape,
  instantShape,
} from '../schema/response-shapes.ts'
import { UserShape } from '../users/users.fields.ts'

/** 90 days, the maximum lifetime of a session at its start or refresh. */
const MAX_EXPIRATION_MINUTES = 129_600

/** Minutes until a session ends; 0 when omitted. */
export const sessionExpirationMinutes = integer(0, MAX_EXPIRATION_MINUTES)
  .nullish()
  .transform((value) => value ?? 0)

/** GraphQL sends null for omitted members; REST omits them. */
const optionalField = <Shape extends z.ZodType>(shape: Shape) =>
  shape.nullish().transform((value) => value ?? null)

/** Converts an IP address to its stored form. A zone (`%eth0`) has a meaning on one machine only. */
export const ipAddress = text(100)
  .transform((value, context) => {
    const ip = value.includes('%') ? null : normalizeIp(value)
    if (ip === null) context.addIssue('must be an IPv4 or IPv6 address')
    return ip ?? z.NEVER
  })
  .meta({ anyOf: [{ format: 'ipv4' }, { format: 'ipv6' }] })

const DEVICE_TOKEN_DESCRIPTION =
  'Secret, random token that the application keeps on the device. A hash of it is the deviceId of sessions and events. A device with a token of 16 characters or more in which the user entered a right code is known, like a browser of the hosted pages.'

const requestMetadata = z
  .strictObject({
    deviceToken: optionalField(text(2000)).meta({
      description: DEVICE_TOKEN_DESCRIPTION,
      example: 'b2c8f0d1-6f0e-4f4e-9a53-0d3c1f6f2a77',
    }),
    userAgent: optionalField(text(500)).meta({
      description: 'User-Agent of the browser or application.',
      example: 'Mozilla/5.0 (X11; Linux x86_64) Firefox/145.0',
    }),
    ipAddress: optionalField(ipAddress).meta({
      description: 'IPv4 or IPv6 address of the user.',
      example: '203.0.113.7',
    }),
  })
  .meta({
    id: 'RequestMetadata',
    typeName: 'RequestMetadataInput',
    description: "Metadata of the user's request, for fraud detection.",
  })

export type ParsedMetadata = z.output<typeof requestMetadata>

/** Metadata of the user's request, for fraud detection. */
export const RequestMetadata = requestMetadata
  .nullish()
  .transform((value) => value ?? { deviceToken: null, userAgent: null, ipAddress: null })
  .meta({ description: "Metadata of the user's request." })

export const AuthenticateSession = z
  .strictObject({
    sessionToken: requiredText(1000).meta({
      description: 'The session token.',
      example: '3q2-7wQkXy0mFjZ8m1cV5bT9rLh4sGdP6uNaEoKiWxY',
    }),
    clientId: optionalField(asId(text(200))).meta({
      description: 'Required, and equal, when the session was started through OIDC.',
    }),
    sessionExpirationMinutes: sessionExpirationMinutes.meta({
      description: 'Extends a refreshable session to this number of minutes from now; 0 to 129600.',
      example: 60,
    }),
    rotateSessionToken: boolean
      .nullish()
      .transform((value) => value ?? false)
      .meta({
        description:
          'Returns a new token. The old token stays valid for 10 s, and a retry with it returns the same new token.',
        example: true,
      }),
    metadata: RequestMetadata,
  })
  .meta({ id: 'AuthenticateSession', description: 'A session token to authenticate.' })

const PROOF_METHOD = defineEnum<SignInMethodName | SecondFactorName>(
  'ProofMethod',
  'A way by which a user authenticated: a sign-in method, or a second factor.',
  { ...METHOD_DESCRIPTIONS, ...SECOND_FACTOR_DESCRIPTIONS },
)

/** A proof of the user's identity, as both surfaces return it. */
export const SessionProofShape = z
  .object({
    method: toAnswerText(PROOF_METHOD.shape).meta({
      description: 'The sign-in method, such as passcode or passkey, or the second factor: totp or recovery.',
      example: 'passcode',
    }),
    amr: z.array(z.string()).meta({ description: 'Authentication methods (RFC 8176).', example: ['otp'] }),
    at: instantShape.meta({ description: 'When the proof was given.' }),
  })
  .meta({ id: 'SessionProof', description: 'A proof of the identity of a user.' })

const DEVICE_ID_EXAMPLE = 'Jx1cV5bT9rLh4sGdP6uNaEoKiWxY3q2-7wQkXy0mFjZ'

/** A session as REST returns it: every field, null where unset. */
export const SessionShape = z
  .object({
    id: createIdShape('session'),
    userId: createIdShape('user'),
    clientId: clientIdShape.nullable(),
    lastSeenAt: instantShape.nullable(),
    lastSeenIp: textIn('ip').nullable().meta({ example: '203.0.113.7' }),
    lastSeenLocation: z.string().nullable().meta({ example: 'Vienna, Austria' }),
    userAgent: z.string().nullable().meta({ example: 'Mozilla/5.0 (X11; Linux x86_64) Firefox/145.0' }),
    expiresAt: instantShape.meta({ example: '2026-11-20T10:30:00.000Z' }),
    updatedAt: instantShape,
    createdAt: instantShape,
    deviceId: z.string().nullable().meta({ example: DEVICE_ID_EXAMPLE }),
    proofs: z.array(SessionProofShape),
  })
  .meta({ id: 'Session', model: 'Session' })

export const toSessionBody = createBodyMapper(SessionShape)

/** The response of authenticating a session token or a passcode. */
export const AuthenticatedSessionShape = z
  .object({
    session: SessionShape.nullable().meta({ description: 'The session; null when none was requested.' }),
    sessionToken: z.string().nullable().meta({
      description: 'The token of a new session, or the new token of a rotated session; otherwise null.',
      example: 'pV4rXcM0yqTe7uLk2sJdH9nBw5gFaZ8oR1iKtQ6vYxE',
    }),
    user: UserShape,
  })
  .meta({ id: 'AuthenticatedSession', description: 'The authenticated user and the session.' })

/** The members of the results of revocations. */
export const REVOKED_SESSION = {
  revokedSessionId: createIdShape('session').meta({ description: 'Id of the session.' }),
}
export const REVOKED_SESSIONS = {
  revokedSessionIds: z
    .array(createIdShape('session'))
    .meta({ description: 'Ids of the sessions that were active.' }),
}
