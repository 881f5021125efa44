import { NotFound } from '../core/errors.ts'
import { defineMutation } from '../operations/mutation.ts'
import { defineRestRoute, type RestRoute } from '../rest/route.ts'
import { toPageEnvelope } from '../schema/page.ts'
import { createListShape } from '../schema/response-shapes.ts'
import { ConsentShape, REVOKED_CONSENT, toConsent } from './consents.fields.ts'
import { listUserConsents, revokeUserConsent } from './consents.ts'

export const consentOperations: readonly RestRoute[] = [
  // GraphQL has the field User.consents, which is part of the statement of the user.
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
  ...defineMutation({
    name: 'revokeUserConsent',
    summary:
      "Revokes a user's consent for a client, with the tokens and sessions of the client. The caller must have all scopes of the user's roles.",
    scope: 'users:write',
    targets: ['userId', 'clientId'],
    errors: [NotFound],
    output: REVOKED_CONSENT,
    rest: {
      method: 'DELETE',
      path: '/users/:userId/consents/:clientId',
      message: 'The consent is revoked.',
    },
    run: (ctx, { userId, clientId }) => revokeUserConsent(ctx, userId, clientId),
  }),
]
