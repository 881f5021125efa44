import { toEnvelope } from '../page.ts'
import { Done, type RestRoute, restRoute, toDone } from '../rest/route.ts'
import { listShape, toBodyOf } from '../shapes.ts'
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

const toBody = toBodyOf(RegistrationTokenShape)
const toNewBody = toBodyOf(NewRegistrationTokenShape)

export const registrationTokenRoutes: readonly RestRoute[] = [
  restRoute({
    method: 'POST',
    path: '/clients/registration-tokens',
    operationId: 'createRegistrationToken',
    summary:
      'Issues a token with which applications register themselves (RFC 7591); it is told here and nowhere else.',
    scope: 'clients:write',
    idempotent: true,
    isBodyOptional: true,
    status: 201,
    body: RegistrationTokenCreate,
    response: NewRegistrationTokenShape,
    handle: async (ctx, { body }) => {
      const { registrationToken, token } = await createRegistrationToken(ctx, body)
      return toNewBody({ ...registrationToken, token })
    },
  }),
  restRoute({
    method: 'GET',
    path: '/clients/registration-tokens',
    operationId: 'listRegistrationTokens',
    summary: 'The registration tokens that still permit something, oldest first.',
    scope: 'clients:read',
    paged: true,
    response: listShape('registrationTokens', RegistrationTokenShape),
    handle: async (ctx, { paging }) =>
      toEnvelope(await listRegistrationTokens(ctx, paging), 'registrationTokens', toBody),
  }),
  restRoute({
    method: 'DELETE',
    path: '/clients/registration-tokens/:registrationTokenId',
    operationId: 'revokeRegistrationToken',
    summary: 'Revokes a registration token; clients that it let in stay.',
    scope: 'clients:write',
    response: Done,
    handle: async (ctx, { params }) => {
      await revokeRegistrationToken(ctx, params.registrationTokenId)
      return toDone(ctx, 'The registration token was revoked.')
    },
  }),
]
