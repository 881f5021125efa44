import { fromPathId } from '../clients/client-ids.ts'
import { toEnvelope } from '../page.ts'
import { Done, type RestRoute, restRoute, toDone } from '../rest/route.ts'
import { listShape } from '../shapes.ts'
import { ConsentShape, toConsent } from './consents.fields.ts'
import { listUserConsents, revokeUserConsent } from './consents.ts'

export const consentRoutes: readonly RestRoute[] = [
  restRoute({
    method: 'GET',
    path: '/users/:userId/consents',
    operationId: 'listUserConsents',
    summary: 'What a user agreed to let clients do, by client.',
    scope: 'users:read',
    paged: true,
    response: listShape('consents', ConsentShape),
    handle: async (ctx, { params, paging }) =>
      toEnvelope(await listUserConsents(ctx, params.userId, paging), 'consents', toConsent),
  }),
  restRoute({
    method: 'DELETE',
    path: '/users/:userId/consents/:clientId',
    operationId: 'revokeUserConsent',
    summary: 'Takes back what a user agreed to for a client, with the tokens and sessions that it got by it.',
    scope: 'users:write',
    response: Done,
    handle: async (ctx, { params }) => {
      await revokeUserConsent(ctx, params.userId, fromPathId(params.clientId))
      return toDone(ctx, 'The consent is revoked.')
    },
  }),
]
