import * as z from 'zod'
import { isJsonObject } from '../core/json/json-object.ts'
import { boolean, integer } from '../schema/input-shapes.ts'
import { instantShape } from '../schema/response-shapes.ts'
import { SIGNING_ALGORITHM } from './signing-algorithms.ts'

const MAX_ACTIVATE_IN_SECONDS = 2_592_000
/** The max-age of the key set (300 s) and the time that client libraries cache it (openid-client: 300 s). */
export const DEFAULT_ACTIVATE_IN_SECONDS = 600

/** The input of a rotation of signing keys. */
export const KeyRotation = z
  .strictObject(
    {
      activateInSeconds: integer(0, MAX_ACTIVATE_IN_SECONDS)
        .nullish()
        .meta({
          description: `How long the new keys are published before they sign, 0 to ${MAX_ACTIVATE_IN_SECONDS} seconds; ${DEFAULT_ACTIVATE_IN_SECONDS} by default, which is longer than relying parties cache keys.`,
          example: DEFAULT_ACTIVATE_IN_SECONDS,
        }),
      retireAtOnce: boolean.nullish().meta({
        description:
          'For keys that leaked: deletes the current keys at once, which invalidates all tokens that they signed; the new keys sign immediately.',
        example: false,
      }),
    },
    'must be an object',
  )
  .superRefine(
    ({ activateInSeconds, retireAtOnce }, context) => {
      if (retireAtOnce === true && (activateInSeconds ?? 0) > 0)
        context.addIssue({
          code: 'custom',
          path: ['activateInSeconds'],
          message: 'must be 0 or omitted with retireAtOnce, which leaves no other key to sign',
        })
    },
    { when: ({ value }) => isJsonObject(value) },
  )
  .meta({ id: 'KeyRotation', description: 'Options of a rotation of the signing keys.' })

/** The JSON body of a signing key. */
export const SigningKeyShape = z
  .object({
    kid: z.string().meta({
      description: 'Key ID in the key set and in tokens: the thumbprint of the key (RFC 7638).',
      example: 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs',
    }),
    alg: SIGNING_ALGORITHM.shape.meta({
      description: 'Signature algorithm (RFC 7518, RFC 8037).',
      example: 'ES256',
    }),
    activeAt: instantShape,
    expiresAt: instantShape.nullable().meta({
      description: 'End of publication; null for a key without a successor.',
      example: null,
    }),
  })
  .meta({ id: 'SigningKey', model: 'SigningKey' })

export const SigningKeysShape = z
  .object({
    keys: z.array(SigningKeyShape).meta({ description: 'The published keys, newest first.' }),
  })
  .meta({ id: 'SigningKeys', description: "The tenant's signing keys." })
