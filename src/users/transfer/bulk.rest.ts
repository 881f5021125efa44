import { defineRestRoute, type RestRoute } from '../../rest/route.ts'
import { ExportedUser, ExportOptions } from './export.fields.ts'
import { exportUsers } from './export.ts'
import { CsvFile, CsvOptions, ImportLine, ImportOptions, UserLine } from './import.fields.ts'
import { importUsers } from './import.ts'
import { importUsersFromCsv } from './import-csv.ts'

/** Import and export of users as NDJSON. */
export const bulkRoutes: readonly RestRoute[] = [
  defineRestRoute({
    method: 'POST',
    path: '/users/import',
    operationId: 'importUsers',
    summary:
      'Imports users, one per line. Each line creates a user or updates the user that it matches. The result of each line is sent while later lines are still being received.',
    scope: 'users:write',
    ndjson: 'both',
    query: ImportOptions,
    body: UserLine,
    response: ImportLine,
    handle: async (ctx, { body, query }) => importUsers(ctx, body as AsyncIterable<Uint8Array>, query),
  }),
  defineRestRoute({
    method: 'POST',
    path: '/users/import/csv',
    operationId: 'importUsersFromCsv',
    summary:
      'Imports users from a CSV file, whose first line names the columns, as importUsers does. A line that has the externalId, the e-mail address or the phone number of an earlier line is an error.',
    scope: 'users:write',
    ndjson: 'both',
    streamType: 'text/csv',
    query: CsvOptions,
    body: CsvFile,
    response: ImportLine,
    handle: async (ctx, { body, query }) => importUsersFromCsv(ctx, body as AsyncIterable<Uint8Array>, query),
  }),
  defineRestRoute({
    method: 'GET',
    path: '/users/export',
    operationId: 'exportUsers',
    summary: 'Exports all users, one a line, in order of id. The lines can be imported.',
    scope: 'users:read',
    ndjson: 'response',
    query: ExportOptions,
    response: ExportedUser,
    handle: async (ctx, { query }) => exportUsers(ctx, query),
  }),
]
