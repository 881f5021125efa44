import { type RestRoute, restRoute } from '../rest/route.ts'
import { ExportedUser, ExportOptions } from './export.fields.ts'
import { exportUsers } from './export.ts'
import { ImportLine, ImportOptions, UserLine } from './import.fields.ts'
import { importUsers } from './import.ts'

/** Users by the million, one a line. */
export const bulkRoutes: readonly RestRoute[] = [
  restRoute({
    method: 'POST',
    path: '/users/import',
    operationId: 'importUsers',
    summary:
      'Imports users, one a line: creates or changes the user that the line matches. Each line gets a result, while the others are still being sent.',
    scope: 'users:write',
    ndjson: 'both',
    query: ImportOptions,
    body: UserLine,
    response: ImportLine,
    handle: async (ctx, { body, query }) => importUsers(ctx, body as AsyncIterable<Uint8Array>, query),
  }),
  restRoute({
    method: 'GET',
    path: '/users/export',
    operationId: 'exportUsers',
    summary: 'Exports all users, one a line, in order of id. The lines can be imported.',
    scope: 'users:read',
    ndjson: 'answer',
    query: ExportOptions,
    response: ExportedUser,
    handle: async (ctx, { query }) => exportUsers(ctx, query),
  }),
]
