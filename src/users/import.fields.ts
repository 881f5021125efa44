import { z } from 'zod'
import { ERROR_CODES } from '../errors.ts'
import { clearable, integer, text } from '../fields.ts'
import { idOf, requestId } from '../shapes.ts'
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

const line = z.int().min(1).meta({ description: 'Number of the line, from 1.', example: 17 })
const count = (description: string, example: number) => z.int().min(0).meta({ description, example })
const code = z.enum(ERROR_CODES).meta({ description: 'What programs go by.', example: 'BAD_USER_INPUT' })
const message = z
  .string()
  .meta({ description: 'What was wrong.', example: 'The request has invalid fields.' })
const fields = z
  .array(z.object({ field: z.string(), description: z.string() }))
  .meta({ description: 'Every faulty field; the name is empty when it is the line as a whole.' })

/** What an import answers for each line, in the order of the lines, and in the end. */
export const ImportLine = z
  .union([
    z
      .object({
        line,
        status: z.enum(['created', 'updated', 'unchanged']).meta({ description: 'What became of the user.' }),
        userId: idOf('user').meta({ description: 'Id of the user.' }),
      })
      .meta({ id: 'ImportedLine', description: 'The line was imported.' }),
    z
      .object({
        line,
        status: z.literal('error').meta({ description: 'No other line is.' }),
        code,
        message,
        fields,
      })
      .meta({ id: 'RefusedLine', description: 'The line was not imported; the others are.' }),
    z
      .object({
        summary: z
          .object({
            lastLine: count('Number of the last line that has a result; 0 without any.', 1000),
            created: count('Users that were created.', 900),
            updated: count('Users that were changed.', 80),
            unchanged: count('Users that were so already.', 15),
            failed: count('Lines that were not imported.', 5),
          })
          .meta({ description: 'What came of all lines.' }),
      })
      .meta({ id: 'ImportSummary', description: 'The last line of an import that came to its end.' }),
    z
      .object({
        error: z
          .object({ code, message, fields, requestId })
          .meta({ description: 'Why; as the bodies of errors have it.' }),
      })
      .meta({
        id: 'ImportError',
        description:
          'The last line of an import that did not come to its end. Import again from the line on that comes after the last result.',
      }),
  ])
  .meta({ id: 'ImportLine', description: 'A line of the answer to an import.' })
