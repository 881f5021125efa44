import { RateLimited } from '../core/errors.ts'
import { builder } from '../graphql/builder.ts'
import { withPublicAccess, withScope } from '../graphql/field-access.ts'
import { composeId, Node, readComposedId, registerNode } from '../graphql/node.graphql.ts'
import { defineObjectType } from '../graphql/shape-fields.ts'
import { defineMutation } from '../operations/mutation.ts'
import { defineRestRoute, type RestRoute } from '../rest/route.ts'
import { KeyRotation, SigningKeyShape, SigningKeysShape } from './key-rotation.fields.ts'
import { findSigningKeys, getSigningKeys, rotateSigningKeys, type SigningKey } from './key-rotation.ts'

const toKeyId = ({ kid }: SigningKey): string => composeId('key', kid)

const SigningKeyRef = defineObjectType<SigningKey>(
  SigningKeyShape,
  {
    ...withPublicAccess('A key that signs tokens of the tenant. Its public key is in the key set.'),
    interfaces: [Node],
  },
  (t) => ({ id: t.id({ description: 'Globally unique id of GraphQL.', resolve: toKeyId }) }),
)

registerNode('key', {
  ref: SigningKeyRef,
  scope: 'tenant:read',
  load: (id, { loaders }) => loaders.over(findSigningKeys).load(readComposedId(id, 1).join('')),
})

const KEYS_SUMMARY = 'Published signing keys, newest first: active, upcoming and retiring ones.'

// A list without pages: a tenant has few keys.
builder.queryField('signingKeys', (t) =>
  t.field({
    ...withScope('tenant:read', KEYS_SUMMARY),
    type: [SigningKeyRef],
    nullable: true,
    resolve: (_root, _args, { ctx }) => getSigningKeys(ctx),
  }),
)

export const keyOperations: readonly RestRoute[] = [
  defineRestRoute({
    method: 'GET',
    path: '/keys',
    operationId: 'getSigningKeys',
    summary: KEYS_SUMMARY,
    scope: 'tenant:read',
    response: SigningKeysShape,
    handle: async (ctx) => ({ keys: await getSigningKeys(ctx) }),
  }),
  ...defineMutation({
    name: 'rotateSigningKeys',
    summary:
      'Replaces the signing keys of all algorithms; the previous keys stay published until their tokens have expired.',
    scope: 'tenant:write',
    isCreation: true,
    input: KeyRotation,
    isInputOptional: true,
    errors: [RateLimited],
    output: SigningKeysShape.shape,
    rest: { method: 'POST', path: '/keys/rotate', response: SigningKeysShape },
    run: async (ctx, _ids, input) => ({ keys: await rotateSigningKeys(ctx, input) }),
  }),
]
