import { NotFound, RateLimited, UserLocked } from '../core/errors.ts'
import { defineNestedList } from '../operations/list.ts'
import { defineMutation } from '../operations/mutation.ts'
import { defineLookup } from '../operations/query.ts'
import { defineResource } from '../operations/resource.ts'
import type { RestRoute } from '../rest/route.ts'
import { idShape } from '../schema/response-shapes.ts'
import {
  CredentialShape,
  EnrollmentTokenCreate,
  EnrollmentTokenShape,
  toCredential,
} from './credentials.fields.ts'
import { CredentialRef } from './credentials.graphql.ts'
import { type CredentialRow, getCredential, listUserCredentials, revokeCredential } from './credentials.ts'
import { createCredentialEnrollmentToken } from './enrollment-tokens.ts'

export const CREDENTIAL = defineResource<CredentialRow>({
  member: 'credential',
  ref: CredentialRef,
  scope: 'credentials:read',
  shape: CredentialShape,
  toBody: (_ctx, row) => toCredential(row),
})

export const credentialOperations: readonly RestRoute[] = [
  ...defineMutation({
    name: 'createCredentialEnrollmentToken',
    summary:
      'Creates a link with which a user enrolls a credential, once, within 24 hours, and sends it unless send is false. It invalidates earlier links.',
    scope: 'credentials:write',
    isCreation: true,
    targets: ['userId'],
    input: EnrollmentTokenCreate,
    isInputOptional: true,
    errors: [NotFound, UserLocked, RateLimited],
    output: EnrollmentTokenShape.shape,
    rest: {
      method: 'POST',
      path: '/users/:userId/credentials/enrollment-tokens',
      // No Location header, because the token cannot be read again.
      status: 201,
      response: EnrollmentTokenShape,
    },
    run: (ctx, { userId }, input) => createCredentialEnrollmentToken(ctx, userId, input),
  }),
  ...defineNestedList({
    name: 'listUserCredentials',
    summary: 'The credentials of a user.',
    resource: CREDENTIAL,
    target: 'userId',
    path: '/users/:userId/credentials',
    run: listUserCredentials,
  }),
  ...defineLookup({
    name: 'getCredential',
    field: 'credential',
    summary: 'A credential.',
    resource: CREDENTIAL,
    target: 'credentialId',
    path: '/credentials/:credentialId',
    run: getCredential,
  }),
  ...defineMutation({
    name: 'revokeCredential',
    summary: 'Revokes a credential permanently. Sessions stay active; revokeUserSessions ends them.',
    scope: 'credentials:write',
    targets: ['credentialId'],
    errors: [NotFound],
    output: { revokedCredentialId: idShape.meta({ description: 'Id of the revoked credential.' }) },
    rest: { method: 'DELETE', path: '/credentials/:credentialId', message: 'The credential is revoked.' },
    run: (ctx, { credentialId }) => revokeCredential(ctx, credentialId),
  }),
]
