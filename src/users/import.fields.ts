import { z } from 'zod'
import { clearable, integer, text } from '../fields.ts'
import { RESPONSE_ONLY_FIELDS, type ResponseOnlyField, UserCreate } from './users.fields.ts'

/** What may tell which user a line is about. */
export const MATCH_BY = ['externalId', 'email', 'phoneNumber'] as const
export type MatchBy = (typeof MATCH_BY)[number]

export const matchBy = z
  .enum(MATCH_BY, `must be one of ${MATCH_BY.join(', ')}`)
  .optional()
  .meta({
    description:
      'What finds the user that a line is about; unless told, the first of externalId, email and phoneNumber that the line has.',
  })

/** Queries and command lines have text only. */
const digits = (value: unknown) =>
  typeof value === 'string' && /^[0-9]{1,15}$/.test(value) ? Number(value) : value

export const startLine = z.preprocess(digits, integer(1, 1_000_000_000_000)).optional().meta({
  description:
    'Lines before this one are skipped: to go on where an import ended, one after the last line that has a result.',
})

export const ImportOptions = z.strictObject({ matchBy, startLine })

const ignored = Object.fromEntries(
  RESPONSE_ONLY_FIELDS.map((name) => [name, z.unknown().meta({ readOnly: true }).optional()]),
) as Record<ResponseOnlyField, z.ZodOptional<z.ZodUnknown>>

/**
 * A line of an import: the fields of a user, each as a change takes it, and the identifier in the system that the user
 * comes from. What only the service sets is passed over, so that an export can be imported.
 */
export const UserLine = z
  .strictObject(
    {
      ...UserCreate.shape,
      externalId: clearable(text(255)).meta({
        description: 'Identifier of the user in the system that they come from; unique in the tenant.',
        example: 'crm-10815',
      }),
      ...ignored,
    },
    'must be an object',
  )
  .meta({ id: 'UserLine', model: 'User' })
