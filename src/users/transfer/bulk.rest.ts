import { defineRestRoute, type RestRoute } from '../../rest/route.ts'
import { ExportedUser, ExportOptions } from './export.fields.ts'
import { exportUsers } from './export.ts'
import { ImportLine, ImportOptions, UserLine } from './import.fields.ts'
import { importUsers } from './import.ts'

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
