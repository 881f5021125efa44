import { DoneShape, defineRestRoute, type RestRoute, toDoneBody } from '../rest/route.ts'
import { toPageEnvelope } from '../schema/page.ts'
import { createBodyMapper, createListShape } from '../schema/response-shapes.ts'
import {
  NewRegistrationTokenShape,
  RegistrationTokenCreate,
  RegistrationTokenShape,
} from './registration-tokens.fields.ts'
import {
  createRegistrationToken,
  listRegistrationTokens,
  revokeRegistrationToken,
} from './registration-tokens.ts'

const toRegistrationTokenBody = createBodyMapper(RegistrationTokenShape)
const toNewRegistrationTokenBody = createBodyMapper(NewRegistrationTokenShape)

export const registrationTokenRoutes: readonly RestRoute[] = [
  defineRestRoute({
    method: 'POST',
    path: '/clients/registration-tokens',
    operationId: 'createRegistrationToken',
    summary:
      'Issues a token with which applications register themselves (RFC 7591); the token is returned only here.',
    scope: 'clients:write',
    idempotent: true,
    isBodyOptional: true,
    status: 201,
    body: RegistrationTokenCreate,
    response: NewRegistrationTokenShape,
    handle: async (ctx, { body }) => {
      const { registrationToken, token } = await createRegistrationToken(ctx, body)
      return toNewRegistrationTokenBody({ ...registrationToken, token })
    },
  }),
  defineRestRoute({
    method: 'GET',
    path: '/clients/registration-tokens',
    operationId: 'listRegistrationTokens',
    summary: 'The active registration tokens, oldest first.',
    scope: 'clients:read',
    paged: true,
    response: createListShape('registrationTokens', RegistrationTokenShape),
    handle: async (ctx, { paging }) =>
      toPageEnvelope(
        ctx,
        await listRegistrationTokens(ctx, paging),
        'registrationTokens',
        toRegistrationTokenBody,
      ),
  }),
  defineRestRoute({
    method: 'DELETE',
    path: '/clients/registration-tokens/:registrationTokenId',
    operationId: 'revokeRegistrationToken',
    summary: 'Revokes a registration token; clients that it registered stay.',
    scope: 'clients:write',
    response: DoneShape,
    handle: async (ctx, { params }) => {
      await revokeRegistrationToken(ctx, params.registrationTokenId)
      return toDoneBody(ctx, 'The registration token was revoked.')
    },
  }),
]
