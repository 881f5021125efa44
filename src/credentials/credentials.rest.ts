import { DoneShape, defineRestRoute, type RestRoute, toDoneBody } from '../rest/route.ts'
import { toPageEnvelope } from '../schema/page.ts'
import { createListShape } from '../schema/response-shapes.ts'
import {
  CredentialShape,
  EnrollmentTokenCreate,
  EnrollmentTokenShape,
  toCredential,
} from './credentials.fields.ts'
import { getCredential, listUserCredentials, revokeCredential } from './credentials.ts'
import { createCredentialEnrollmentToken } from './enrollment-tokens.ts'

export const credentialRoutes: readonly RestRoute[] = [
  defineRestRoute({
    method: 'POST',
    path: '/users/:userId/credentials/enrollment-tokens',
    operationId: 'createCredentialEnrollmentToken',
    summary: 'Creates a link with which the user enrolls a credential, and sends it unless send is false.',
    scope: 'credentials:write',
    idempotent: true,
    // No Location header, because the token cannot be read again.
    status: 201,
    isBodyOptional: true,
    body: EnrollmentTokenCreate,
    response: EnrollmentTokenShape,
    handle: (ctx, { params, body }) => createCredentialEnrollmentToken(ctx, params.userId, body),
  }),
  defineRestRoute({
    method: 'GET',
    path: '/users/:userId/credentials',
    operationId: 'listUserCredentials',
    summary: 'The credentials of a user.',
    scope: 'credentials:read',
    paged: true,
    response: createListShape('credentials', CredentialShape),
    handle: async (ctx, { params, paging }) =>
      toPageEnvelope(ctx, await listUserCredentials(ctx, params.userId, paging), 'credentials', toCredential),
  }),
  defineRestRoute({
    method: 'GET',
    path: '/credentials/:credentialId',
    operationId: 'getCredential',
    summary: 'A credential.',
    scope: 'credentials:read',
    response: CredentialShape,
    handle: async (ctx, { params }) => toCredential(await getCredential(ctx, params.credentialId)),
  }),
  defineRestRoute({
    method: 'DELETE',
    path: '/credentials/:credentialId',
    operationId: 'revokeCredential',
    summary: 'Revokes a credential permanently.',
    scope: 'credentials:write',
    response: DoneShape,
    handle: async (ctx, { params }) => {
      await revokeCredential(ctx, params.credentialId)
      return toDoneBody(ctx, 'The credential is revoked.')
    },
  }),
]
