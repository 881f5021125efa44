import * as z from 'zod'
import { integer, optional, text } from '../schema/input-shapes.ts'
import { createIdShape, instantShape } from '../schema/response-shapes.ts'

const MAX_USES = 1_000_000
const MAX_LIFETIME_SECONDS = 2_592_000
const DEFAULT_LIFETIME_SECONDS = 86_400

const registrationTokenSamples = { note: 'Partner portal', usesLeft: 1 }

/** Input of createRegistrationToken. */
export const RegistrationTokenCreate = z
  .strictObject(
    {
      note: optional(text(200)),
      uses: integer(1, MAX_USES)
        .nullable()
        .default(1)
        .meta({
          description: `How many registrations it permits, 1 to ${MAX_USES}; 1 by default, null for any number until it expires.`,
          example: 1,
        }),
      expiresInSeconds: integer(60, MAX_LIFETIME_SECONDS)
        .nullish()
        .transform((value) => value ?? DEFAULT_LIFETIME_SECONDS)
        .meta({
          description: `Lifetime in seconds, 60 to ${MAX_LIFETIME_SECONDS}; a day by default.`,
          example: DEFAULT_LIFETIME_SECONDS,
        }),
    },
    'must be an object',
  )
  .meta({ id: 'RegistrationTokenCreate', model: 'RegistrationToken', samples: registrationTokenSamples })

const registrationTokenFields = {
  id: createIdShape('regtoken').meta({
    description: 'Id of the registration token, not the token itself.',
  }),
  note: z.string().nullable(),
  usesLeft: z.int().nullable(),
  expiresAt: instantShape.meta({ description: 'When it expires.' }),
  createdAt: instantShape.meta({ description: 'When it was issued.' }),
}

/** An initial access token (RFC 7591, section 3) in REST responses, without the token itself. */
export const RegistrationTokenShape = z
  .object(registrationTokenFields)
  .meta({ id: 'RegistrationToken', model: 'RegistrationToken', samples: registrationTokenSamples })

/** The response to createRegistrationToken. */
export const NewRegistrationTokenShape = z
  .object({
    ...registrationTokenFields,
    token: z.string().meta({
      description: 'The token, returned only here.',
      example: 'Zk1vN3cYp0sRbTq8uXeHj5mLwD7aGfK2iOyQxV4tCnE',
    }),
  })
  .meta({ id: 'NewRegistrationToken', model: 'RegistrationToken', samples: registrationTokenSamples })
