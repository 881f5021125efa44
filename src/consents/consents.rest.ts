import { parseClientPathId } from '../access/client-ids.ts'
import { DoneShape, defineRestRoute, type RestRoute, toDoneBody } from '../rest/route.ts'
import { toPageEnvelope } from '../schema/page.ts'
import { createListShape } from '../schema/response-shapes.ts'
import { ConsentShape, toConsent } from './consents.fields.ts'
import { listUserConsents, revokeUserConsent } from './consents.ts'

export const consentRoutes: readonly RestRoute[] = [
  defineRestRoute({
    method: 'GET',
    path: '/users/:userId/consents',
    operationId: 'listUserConsents',
    summary: 'Consents of a user, by client.',
    scope: 'users:read',
    paged: true,
    response: createListShape('consents', ConsentShape),
    handle: async (ctx, { params, paging }) =>
      toPageEnvelope(ctx, await listUserConsents(ctx, params.userId, paging), 'consents', toConsent),
  }),
  defineRestRoute({
    method: 'DELETE',
    path: '/users/:userId/consents/:clientId',
    operationId: 'revokeUserConsent',
    summary:
      "Revokes a user's consent for a client, with the tokens and sessions of the client. The caller must have all scopes of the user's roles.",
    scope: 'users:write',
    response: DoneShape,
    handle: async (ctx, { params }) => {
      await revokeUserConsent(ctx, params.userId, parseClientPathId(params.clientId))
      return toDoneBody(ctx, 'The consent is revoked.')
    },
  }),
]
