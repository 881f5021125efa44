import { z } from 'zod'
import { clearable, integer, text } from '../fields.ts'
import { idOf, time } from '../shapes.ts'

const MAX_USES = 1_000_000
const MAX_LIFETIME_SECONDS = 2_592_000
const DEFAULT_LIFETIME_SECONDS = 86_400

const samples = { note: 'Partner portal', usesLeft: 1 }

/** What issues an initial access token. */
export const RegistrationTokenCreate = z
  .strictObject(
    {
      note: clearable(text(200)),
      uses: integer(1, MAX_USES)
        .nullable()
        .default(1)
        .meta({
          description: `How many registrations it permits, 1 to ${MAX_USES}; 1 unless told, null for any number until it expires.`,
          example: 1,
        }),
      expiresInSeconds: clearable(integer(60, MAX_LIFETIME_SECONDS))
        .transform((value) => value ?? DEFAULT_LIFETIME_SECONDS)
        .meta({
          description: `How long it works, 60 to ${MAX_LIFETIME_SECONDS} seconds; a day unless told.`,
          example: DEFAULT_LIFETIME_SECONDS,
        }),
    },
    'must be an object',
  )
  .meta({ id: 'RegistrationTokenCreate', model: 'RegistrationToken', samples })

const fields = {
  id: idOf('regtoken'),
  note: z.string().nullable(),
  usesLeft: z.int().nullable(),
  expiresAt: time.meta({ description: 'When it stops working.' }),
  createdAt: time.meta({ description: 'When it was issued.' }),
}

/** An initial access token as REST answers it; the token itself is told once, in the shape below. */
export const RegistrationTokenShape = z
  .object(fields)
  .meta({ id: 'RegistrationToken', model: 'RegistrationToken', samples })

/** What issuing one answers. */
export const NewRegistrationTokenShape = z
  .object({
    ...fields,
    token: z.string().meta({
      description: 'The token, told here and nowhere else.',
      example: 'Zk1vN3cYp0sRbTq8uXeHj5mLwD7aGfK2iOyQxV4tCnE',
    }),
  })
  .meta({ id: 'NewRegistrationToken', model: 'RegistrationToken', samples })
