import * as z from 'zod'
import { ERROR_CODES } from '../../core/errors.ts'
import { clearable, integer, text } from '../../schema/input-shapes.ts'
import { createIdShape, requestIdShape } from '../../schema/response-shapes.ts'
import { responseOnlyShapes, userChanges } from '../users.fields.ts'

/** Fields that can match a line to a user. */
export const MATCH_BY = ['externalId', 'email', 'phoneNumber'] as const
export type MatchBy = (typeof MATCH_BY)[number]

export const matchBy = z
  .enum(MATCH_BY, `must be one of ${MATCH_BY.join(', ')}`)
  .optional()
  .meta({
    description:
      'The field that matches a line to a user. Default: the first of externalId, email and phoneNumber that the line has.',
  })

/** Query parameters and command-line options are text. */
const digits = (value: unknown) =>
  typeof value === 'string' && /^(0|[1-9][0-9]{0,14})$/.test(value) ? Number(value) : value

export const startLine = z.preprocess(digits, integer(1, 1_000_000_000_000)).optional().meta({
  description:
    'Lines before this one are skipped: to go on where an import ended, one after the last line that has a result.',
})

export const ImportOptions = z.strictObject({ matchBy, startLine })

/**
 * A line of an import: the fields of a user as in an update, and the identifier in the system that the user
 * comes from. Read-only fields are ignored, so that an export can be imported.
 */
export const UserLine = z
  .strictObject(
    {
      ...userChanges,
      externalId: clearable(text(255)).meta({
        description: 'Identifier of the user in the source system; unique in the tenant.',
        example: 'crm-10815',
      }),
      ...responseOnlyShapes,
    },
    'must be an object',
  )
  .meta({ id: 'UserLine', model: 'User' })

const line = z.int().min(1).meta({ description: 'Number of the line, from 1.', example: 17 })
const createCountShape = (description: string, example: number) =>
  z.int().min(0).meta({ description, example })
const code = z.enum(ERROR_CODES).meta({ description: 'Error code for programs.', example: 'BAD_USER_INPUT' })
const message = z.string().meta({ description: 'Error message.', example: 'The request has invalid fields.' })
const fields = z
  .array(z.object({ field: z.string(), description: z.string() }))
  .meta({ description: 'Every invalid field. The name is empty when the issue concerns the whole line.' })

/** The responses of an import: one per line in the order of the lines, and a summary. */
export const ImportLine = z
  .union([
    z
      .object({
        line,
        status: z
          .enum(['created', 'updated', 'unchanged'])
          .meta({ description: 'What happened to the user.' }),
        userId: createIdShape('user').meta({ description: 'Id of the user.' }),
      })
      .meta({ id: 'ImportedLine', description: 'The line was imported.' }),
    z
      .object({
        line,
        status: z
          .literal('error')
          .meta({ description: 'Distinguishes the summary from the results of lines.' }),
        code,
        message,
        fields,
      })
      .meta({ id: 'RefusedLine', description: 'The line was not imported; the others are.' }),
    z
      .object({
        summary: z
          .object({
            lastLine: createCountShape('Number of the last line that has a result; 0 without any.', 1000),
            created: createCountShape('Users that were created.', 900),
            updated: createCountShape('Users that were changed.', 80),
            unchanged: createCountShape('Users without a difference.', 15),
            failed: createCountShape('Lines that were not imported.', 5),
          })
          .meta({ description: 'Counts over all lines.' }),
      })
      .meta({ id: 'ImportSummary', description: 'The last line of an import that came to its end.' }),
    z
      .object({
        error: z
          .object({ code, message, fields, requestId: requestIdShape })
          .meta({ description: 'The error, as in error bodies.' }),
      })
      .meta({
        id: 'ImportError',
        description:
          'The last line of an import that did not come to its end. Import again from the line on that comes after the last result.',
      }),
  ])
  .meta({ id: 'ImportLine', description: 'A line of the answer to an import.' })
