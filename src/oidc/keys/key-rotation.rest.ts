import { type RestRoute, restRoute } from '../../rest/route.ts'
import { toBodyOf } from '../../shapes.ts'
import { KeyRotation, SigningKeyShape, SigningKeysShape } from './key-rotation.fields.ts'
import { getSigningKeys, rotateSigningKeys, type SigningKey } from './key-rotation.ts'

const toBody = toBodyOf(SigningKeyShape)
const toKeysBody = (keys: SigningKey[]) => ({ keys: keys.map(toBody) })

export const keyRoutes: readonly RestRoute[] = [
  restRoute({
    method: 'GET',
    path: '/keys',
    operationId: 'getSigningKeys',
    summary:
      'The signing keys that are published, newest first: what signs, what will, and what has signed of late.',
    scope: 'tenant:read',
    response: SigningKeysShape,
    handle: async (ctx) => toKeysBody(await getSigningKeys(ctx)),
  }),
  restRoute({
    method: 'POST',
    path: '/keys/rotate',
    operationId: 'rotateSigningKeys',
    summary:
      'Replaces the signing keys of all algorithms; those before them stay published while their tokens live.',
    scope: 'tenant:write',
    idempotent: true,
    isBodyOptional: true,
    body: KeyRotation,
    response: SigningKeysShape,
    handle: async (ctx, { body }) => toKeysBody(await rotateSigningKeys(ctx, body)),
  }),
]
