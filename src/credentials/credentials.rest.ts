import { toEnvelope } from '../page.ts'
import { Done, type RestRoute, restRoute, toDone } from '../rest/route.ts'
import { listShape } from '../shapes.ts'
import {
  CredentialShape,
  EnrollmentTokenCreate,
  EnrollmentTokenShape,
  toCredential,
} from './credentials.fields.ts'
import { getCredential, listUserCredentials, revokeCredential } from './credentials.ts'
import { createCredentialEnrollmentToken } from './enrolment-tokens.ts'

export const credentialRoutes: readonly RestRoute[] = [
  restRoute({
    method: 'POST',
    path: '/users/:userId/credentials/enrollment-tokens',
    operationId: 'createCredentialEnrollmentToken',
    summary: 'Makes a link with which the user enrols a credential, and sends it unless told not to.',
    scope: 'credentials:write',
    idempotent: true,
    // Without Location: what was made is nowhere to be read.
    status: 201,
    isBodyOptional: true,
    body: EnrollmentTokenCreate,
    response: EnrollmentTokenShape,
    handle: (ctx, { params, body }) => createCredentialEnrollmentToken(ctx, params.userId, body),
  }),
  restRoute({
    method: 'GET',
    path: '/users/:userId/credentials',
    operationId: 'listUserCredentials',
    summary: 'The credentials of a user.',
    scope: 'credentials:read',
    paged: true,
    response: listShape('credentials', CredentialShape),
    handle: async (ctx, { params, paging }) =>
      toEnvelope(await listUserCredentials(ctx, params.userId, paging), 'credentials', toCredential),
  }),
  restRoute({
    method: 'GET',
    path: '/credentials/:credentialId',
    operationId: 'getCredential',
    summary: 'A credential.',
    scope: 'credentials:read',
    response: CredentialShape,
    handle: async (ctx, { params }) => toCredential(await getCredential(ctx, params.credentialId)),
  }),
  restRoute({
    method: 'DELETE',
    path: '/credentials/:credentialId',
    operationId: 'revokeCredential',
    summary: 'Revokes a credential, for ever.',
    scope: 'credentials:write',
    response: Done,
    handle: async (ctx, { params }) => {
      await revokeCredential(ctx, params.credentialId)
      return toDone(ctx, 'The credential is revoked.')
    },
  }),
]
