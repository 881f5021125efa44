import * as z from 'zod'
import { ERROR_CODES } from '../../core/errors.ts'
import { accountProof } from '../../old-passwords/old-passwords.fields.ts'
import { defineEnum } from '../../schema/enums.ts'
import { boolean, clearable, integer, oneOf, text } from '../../schema/input-shapes.ts'
import { createIdShape, requestIdShape } from '../../schema/response-shapes.ts'
import { responseOnlyShapes, userChanges } from '../users.fields.ts'
import { LINE_PARTS } from './line-parts.fields.ts'

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

const flag = (value: unknown) => (value === 'true' ? true : value === 'false' ? false : value)

const dryRun = z.preprocess(flag, boolean).optional().meta({
  description:
    'Writes nothing, and returns the results that the import would have. New users have no id then.',
  example: true,
})

export const ImportOptions = z.strictObject({ matchBy, startLine, dryRun })

/** Maximum number of lines of a CSV file: the keys of all of them are compared. */
export const MAX_CSV_LINES = 100_000
export const CHARSETS = ['utf-8', 'windows-1252'] as const

const columnList = z.array(z.string(), 'must be a list of fields').max(200, 'must have at most 200 fields')

/** The options of an import of CSV over REST and on the command line, where the columns are a text with commas. */
export const CsvOptions = ImportOptions.extend({
  columns: z
    .preprocess((value) => (typeof value === 'string' ? value.split(',') : value), columnList)
    .optional()
    .meta({
      type: 'string',
      description:
        'The field of each column in their order, with commas; - leaves a column out. By default, the fields follow from the names in the first line.',
      example: 'email,givenName,-',
    }),
  charset: oneOf(CHARSETS).optional().meta({
    description: 'The encoding of the file, utf-8 by default. Excel on Windows may write windows-1252.',
    example: 'utf-8',
  }),
})

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
      proof: accountProof,
      ...LINE_PARTS,
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
  .array(
    z.object({
      field: z.string(),
      description: z.string(),
      column: z.string().optional().meta({ description: 'The name of its column in a CSV file.' }),
    }),
  )
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
        userId: createIdShape('user')
          .optional()
          .meta({ description: 'Id of the user; absent for a user that a dry run would create.' }),
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

/** A CSV file (RFC 4180), with commas, semicolons or tabs. */
export const CsvFile = z.string().meta({
  description: 'A CSV file. Its first line names the columns.',
  example: 'E-mail,First name\nada@example.com,Ada\n',
})

/** Maximum length of a part of a file that GraphQL takes. */
const MAX_PART_CHARS = 60_000
export const MAX_PART_LINES = 500

const csv = text(MAX_PART_CHARS)
const isLast = boolean.nullish().meta({ description: 'Whether the file ends with this part.' })

/** Input of readCsvHeader. */
export const CsvHeaderInput = z.strictObject({
  csv: csv.meta({ description: `The beginning of a CSV file, at most ${MAX_PART_CHARS} characters.` }),
  isLast,
})

export const CsvColumnShape = z
  .object({
    name: z.string().meta({ description: 'The name in the first line.' }),
    field: z
      .string()
      .nullable()
      .meta({ description: 'The field that the name means; null if it means none.' }),
    samples: z.array(z.string()).meta({ description: 'The cells of the first lines.' }),
  })
  .meta({ id: 'CsvColumn', description: 'A column of a CSV file.' })

export const CsvHeaderShape = z
  .object({
    delimiter: z.string().meta({ description: 'What separates cells: a comma, a semicolon or a tab.' }),
    columns: z.array(CsvColumnShape).meta({ description: 'The columns in their order.' }),
    fields: z.array(z.string()).meta({
      description: 'The fields that a column can have, besides members of metadata such as appMetadata.plan.',
    }),
    consumed: z
      .int()
      .meta({ description: 'Number of characters of the header: the first line begins there.' }),
    nextLine: z.int().meta({ description: 'Number of the first line after the header.' }),
  })
  .meta({ id: 'CsvHeader', description: 'The first line of a CSV file.' })

/** Input of importCsv. */
export const CsvPartInput = z.strictObject({
  csv: csv.meta({
    description: `The next part of a CSV file after its header, from the beginning of a line, at most ${MAX_PART_CHARS} characters.`,
  }),
  isLast,
  delimiter: text(1)
    .refine((value) => /^[,;\t]$/.test(value), 'must be a comma, a semicolon or a tab')
    .meta({ description: 'What separates cells.' }),
  columns: columnList.meta({
    description: 'The field of each column in their order; - leaves a column out.',
  }),
  line: integer(1, 1_000_000_000_000).meta({ description: 'Number of the line with which the part begins.' }),
  exceptLines: z
    .array(integer(1, 1_000_000_000_000))
    .max(MAX_PART_LINES)
    .nullish()
    .meta({ description: 'Lines to leave out, such as those with the address of an earlier line.' }),
  dryRun: boolean
    .nullish()
    .meta({ description: 'Writes nothing, and returns the results that the import would have.' }),
})

const STATUS = defineEnum('ImportStatus', 'What an import did with a line.', {
  created: 'It created a user.',
  updated: 'It changed a user.',
  unchanged: 'The user does not differ.',
  error: 'It was not imported.',
})

export const ImportIssueShape = z
  .object({
    field: z.string().meta({ description: 'The field; empty when the issue concerns the whole line.' }),
    description: z.string().meta({ description: 'What is wrong.' }),
  })
  .meta({ id: 'ImportIssue', description: 'An issue of a line of an import.' })

/** The result of a line of importCsv. */
export const CsvResultShape = z
  .object({
    line: z.int().meta({ description: 'Number of the line, from 1.' }),
    status: STATUS.shape.meta({ description: 'What happened.' }),
    userId: createIdShape('user').nullable().meta({
      description: 'Id of the user; null for an error, and for a user whom a dry run would create.',
    }),
    message: z.string().nullable().meta({ description: 'The error; null without one.' }),
    issues: z.array(ImportIssueShape).meta({ description: 'The invalid fields.' }),
    cells: z.array(z.string()).meta({ description: 'The cells of the line.' }),
    keys: z.array(z.string()).meta({
      description:
        'The values that are unique in the tenant, normalized. A line with a value of an earlier one is left out by exceptLines.',
    }),
  })
  .meta({ id: 'CsvResult', description: 'The result of a line of a CSV file.' })
