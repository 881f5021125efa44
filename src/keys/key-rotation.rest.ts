import { defineRestRoute, type RestRoute } from '../rest/route.ts'
import { createBodyMapper } from '../schema/response-shapes.ts'
import { KeyRotation, SigningKeyShape, SigningKeysShape } from './key-rotation.fields.ts'
import { getSigningKeys, rotateSigningKeys, type SigningKey } from './key-rotation.ts'

const toSigningKeyBody = createBodyMapper(SigningKeyShape)
const toKeysBody = (keys: SigningKey[]) => ({ keys: keys.map(toSigningKeyBody) })

export const keyRoutes: readonly RestRoute[] = [
  defineRestRoute({
    method: 'GET',
    path: '/keys',
    operationId: 'getSigningKeys',
    summary: 'Published signing keys, newest first: active, upcoming and retiring ones.',
    scope: 'tenant:read',
    response: SigningKeysShape,
    handle: async (ctx) => toKeysBody(await getSigningKeys(ctx)),
  }),
  defineRestRoute({
    method: 'POST',
    path: '/keys/rotate',
    operationId: 'rotateSigningKeys',
    summary:
      'Replaces the signing keys of all algorithms; the previous keys stay published until their tokens have expired.',
    scope: 'tenant:write',
    idempotent: true,
    isBodyOptional: true,
    body: KeyRotation,
    response: SigningKeysShape,
    handle: async (ctx, { body }) => toKeysBody(await rotateSigningKeys(ctx, body)),
  }),
]
