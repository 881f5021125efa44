import * as z from 'zod'
import { builder } from '../../graphql/builder.ts'
import { withScope } from '../../graphql/field-access.ts'
import { buildInputFields, defineObjectType } from '../../graphql/shape-fields.ts'
import { defineMutation } from '../../operations/mutation.ts'
import {
  CsvColumnShape,
  CsvHeaderInput,
  CsvHeaderShape,
  CsvPartInput,
  CsvResultShape,
  ImportIssueShape,
} from './import.fields.ts'
import { importCsv, readCsvHeader } from './import-csv.ts'

defineObjectType(CsvColumnShape, withScope('users:read', 'A column of a CSV file.'))
const CsvHeader = defineObjectType<ReturnType<typeof readCsvHeader>>(
  CsvHeaderShape,
  withScope('users:read', 'The first line of a CSV file.'),
)
defineObjectType(ImportIssueShape, withScope('users:write', 'An issue of a line of an import.'))
defineObjectType(CsvResultShape, withScope('users:write', 'The result of a line of a CSV file.'))

builder.queryField('csvHeader', (t) =>
  t.field({
    ...withScope(
      'users:read',
      'The first line of a CSV file, with the field that each of its names means, in English or German. Nothing is stored.',
    ),
    type: CsvHeader,
    nullable: true,
    args: builder.args((args) => buildInputFields(args as never, CsvHeaderInput.shape)) as never,
    resolve: (_root, given) => readCsvHeader(given),
  }),
)

// REST takes a file of any length.
defineMutation({
  name: 'importCsv',
  summary:
    'Imports users from a part of a CSV file. Each line creates a user or updates the user that it matches. The next part begins after the consumed characters.',
  scope: 'users:write',
  input: CsvPartInput,
  output: {
    results: z.array(CsvResultShape).meta({ description: 'The result of each line that was read.' }),
    consumed: z
      .int()
      .meta({ description: 'Number of characters that were read: the complete lines, up to 500.' }),
    nextLine: z.int().meta({ description: 'Number of the line with which the next part begins.' }),
  },
  run: (ctx, _ids, input) => importCsv(ctx, input) as never,
})
