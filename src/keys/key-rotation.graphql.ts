import { InvalidInput, RateLimited } from '../core/errors.ts'
import { builder } from '../graphql/builder.ts'
import { withPublicAccess, withScope } from '../graphql/field-access.ts'
import { markCreation } from '../graphql/idempotency.ts'
import { toResultOptions } from '../graphql/result-options.ts'
import { findDescription } from '../schema/schema-descriptions.ts'
import { KeyRotation, SigningKeyShape } from './key-rotation.fields.ts'
import { getSigningKeys, rotateSigningKeys, type SigningKey } from './key-rotation.ts'
import { SigningAlgorithmEnum } from './signing-algorithms.graphql.ts'

const describeField = (field: keyof typeof SigningKeyShape.shape) =>
  SigningKeyShape.shape[field].meta()?.description ?? findDescription('SigningKey', field)

const SigningKeyRef = builder.objectRef<SigningKey>('SigningKey').implement({
  ...withPublicAccess('A key that signs tokens of the tenant. Its public key is in the key set.'),
  fields: (t) => ({
    kid: t.exposeString('kid', { description: describeField('kid') }),
    alg: t.expose('alg', { type: SigningAlgorithmEnum, description: describeField('alg') }),
    activeAt: t.expose('activeAt', { type: 'DateTime', description: describeField('activeAt') }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: describeField('expiresAt'),
    }),
  }),
})

builder.queryField('signingKeys', (t) =>
  t.field({
    ...withScope('tenant:read', 'Published signing keys, newest first: active, upcoming and retiring ones.'),
    type: [SigningKeyRef],
    nullable: true,
    resolve: (_root, _args, { ctx }) => getSigningKeys(ctx),
  }),
)

const describeRotationField = (field: keyof typeof KeyRotation.shape) =>
  KeyRotation.shape[field].meta()?.description

const RotateSigningKeysInput = builder.inputType('RotateSigningKeysInput', {
  description: 'Options of a rotation of the signing keys.',
  fields: (t) => ({
    activateInSeconds: t.int({ description: describeRotationField('activateInSeconds') }),
    retireAtOnce: t.boolean({ description: describeRotationField('retireAtOnce') }),
  }),
})

const RotateSigningKeysPayload = builder
  .objectRef<{ keys: SigningKey[] }>('RotateSigningKeysPayload')
  .implement({
    ...withPublicAccess('The signing keys after the rotation.'),
    fields: (t) => ({
      keys: t.expose('keys', {
        type: [SigningKeyRef],
        description: 'The published keys, newest first.',
      }),
    }),
  })

builder.mutationField('rotateSigningKeys', (t) =>
  t.field({
    ...markCreation(
      withScope(
        'tenant:write',
        'Replaces the signing keys of all algorithms; the previous keys stay published until their tokens have expired.',
      ),
    ),
    ...toResultOptions(InvalidInput, RateLimited),
    type: RotateSigningKeysPayload,
    args: {
      input: t.arg({
        type: RotateSigningKeysInput,
        required: true,
        description: 'When the new keys become active.',
      }),
    },
    resolve: async (_root, { input }, { ctx }) => ({ keys: await rotateSigningKeys(ctx, input) }),
  }),
)
