import { NotFound } from '../core/errors.ts'
import { withScope } from '../graphql/field-access.ts'
import { Node, registerNode } from '../graphql/node.graphql.ts'
import { defineObjectType } from '../graphql/shape-fields.ts'
import { defineList } from '../operations/list.ts'
import { defineMutation } from '../operations/mutation.ts'
import { defineResource } from '../operations/resource.ts'
import type { RestRoute } from '../rest/route.ts'
import { encodeIdCursor } from '../schema/page.ts'
import { idShape } from '../schema/response-shapes.ts'
import {
  NewRegistrationTokenShape,
  RegistrationTokenCreate,
  RegistrationTokenShape,
} from './registration-tokens.fields.ts'
import {
  createRegistrationToken,
  findRegistrationTokens,
  listRegistrationTokens,
  type RegistrationToken,
  revokeRegistrationToken,
  toTokenListName,
} from './registration-tokens.ts'

const REGISTRATION_TOKEN = defineResource<RegistrationToken>({
  member: 'registrationToken',
  ref: defineObjectType<RegistrationToken>(RegistrationTokenShape, {
    ...withScope('clients:read', 'Permits applications to register themselves (RFC 7591).'),
    interfaces: [Node],
  }),
  scope: 'clients:read',
  shape: RegistrationTokenShape,
  toCursor: ({ tenant }, { id }) => encodeIdCursor(toTokenListName(tenant), id),
})

registerNode('regtoken', {
  ref: REGISTRATION_TOKEN.ref,
  scope: REGISTRATION_TOKEN.scope,
  load: (id, { loaders }) => loaders.over(findRegistrationTokens).load(id),
})

export const registrationTokenOperations: readonly RestRoute[] = [
  ...defineMutation({
    name: 'createRegistrationToken',
    summary:
      'Issues a token with which applications register themselves (RFC 7591); the token is returned only here.',
    scope: 'clients:write',
    isCreation: true,
    input: RegistrationTokenCreate,
    isInputOptional: true,
    output: { registrationToken: REGISTRATION_TOKEN, token: NewRegistrationTokenShape.shape.token },
    rest: {
      method: 'POST',
      path: '/clients/registration-tokens',
      status: 201,
      response: NewRegistrationTokenShape,
      toBody: (ctx, { registrationToken, token }) => ({
        ...REGISTRATION_TOKEN.toBody(ctx, registrationToken),
        token,
      }),
    },
    run: (ctx, _ids, input) => createRegistrationToken(ctx, input),
  }),
  ...defineList({
    name: 'listRegistrationTokens',
    summary: 'The active registration tokens, oldest first.',
    resource: REGISTRATION_TOKEN,
    path: '/clients/registration-tokens',
    run: listRegistrationTokens,
  }),
  ...defineMutation({
    name: 'revokeRegistrationToken',
    summary: 'Revokes a registration token; clients that it registered stay.',
    scope: 'clients:write',
    targets: ['registrationTokenId'],
    errors: [NotFound],
    output: {
      revokedRegistrationTokenId: idShape.meta({ description: 'Id of the revoked registration token.' }),
    },
    rest: {
      method: 'DELETE',
      path: '/clients/registration-tokens/:registrationTokenId',
      message: 'The registration token was revoked.',
    },
    run: (ctx, { registrationTokenId }) => revokeRegistrationToken(ctx, registrationTokenId),
  }),
]
