import { z } from 'zod'
import { boolean, clearable, integer } from '../../fields.ts'
import { time } from '../../shapes.ts'
import { SIGNING_ALGORITHMS } from '../../signing-algorithms.ts'

const MAX_ACTIVATE_IN_SECONDS = 2_592_000
/** What we let others cache the keys for, and again what relying parties' libraries keep them (openid-client: 300 s). */
export const DEFAULT_ACTIVATE_IN_SECONDS = 600

/** How signing keys are replaced. */
export const KeyRotation = z
  .strictObject(
    {
      activateInSeconds: clearable(integer(0, MAX_ACTIVATE_IN_SECONDS)).meta({
        description: `How long the new keys are published before they sign, 0 to ${MAX_ACTIVATE_IN_SECONDS} seconds; ${DEFAULT_ACTIVATE_IN_SECONDS} unless told, which is longer than relying parties cache keys.`,
        example: DEFAULT_ACTIVATE_IN_SECONDS,
      }),
      retireAtOnce: clearable(boolean).meta({
        description:
          'For keys that leaked: the current ones are gone at once, with all tokens that they signed, and the new ones sign from now on.',
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
          message: 'must be 0 or omitted with retireAtOnce, after which no other key could sign',
        })
    },
    { when: ({ value }) => typeof value === 'object' && value !== null },
  )
  .meta({ id: 'KeyRotation', description: 'How the signing keys are replaced.' })

/** A signing key as REST answers it. */
export const SigningKeyShape = z
  .object({
    kid: z.string().meta({
      description: 'What names it in the key set and in tokens: its thumbprint (RFC 7638).',
      example: 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs',
    }),
    alg: z
      .enum(SIGNING_ALGORITHMS)
      .meta({ description: 'Algorithm of what it signs (RFC 7518, RFC 8037).', example: 'ES256' }),
    activeAt: time,
    expiresAt: time.nullable().meta({
      description: 'No longer published after this; null for a key without a successor.',
      example: null,
    }),
  })
  .meta({ id: 'SigningKey', model: 'SigningKey' })

export const SigningKeysShape = z
  .object({
    keys: z.array(SigningKeyShape).meta({ description: 'Those that are published, the newest first.' }),
  })
  .meta({ id: 'SigningKeys', description: 'What the tenant signs tokens with.' })
