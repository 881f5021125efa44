import { SigningAlgorithmEnum } from '../../clients/clients.graphql.ts'
import { descriptionOf } from '../../descriptions.ts'
import { InvalidInput, RateLimited } from '../../errors.ts'
import { builder } from '../../graphql/builder.ts'
import { creation } from '../../graphql/idempotency.ts'
import { resultOf } from '../../graphql/result.ts'
import { open, scoped } from '../../graphql/scoped.ts'
import { KeyRotation, SigningKeyShape } from './key-rotation.fields.ts'
import { getSigningKeys, rotateSigningKeys, type SigningKey } from './key-rotation.ts'

const words = (field: keyof typeof SigningKeyShape.shape) =>
  SigningKeyShape.shape[field].meta()?.description ?? descriptionOf('SigningKey', field)

const SigningKeyRef = builder.objectRef<SigningKey>('SigningKey').implement({
  ...open('A key that the tenant signs tokens with. Its public half is in the key set.'),
  fields: (t) => ({
    kid: t.exposeString('kid', { description: words('kid') }),
    alg: t.expose('alg', { type: SigningAlgorithmEnum, description: words('alg') }),
    activeAt: t.expose('activeAt', { type: 'DateTime', description: words('activeAt') }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', nullable: true, description: words('expiresAt') }),
  }),
})

builder.queryField('signingKeys', (t) =>
  t.field({
    ...scoped(
      'tenant:read',
      'The signing keys that are published, newest first: what signs, what will, and what has signed of late.',
    ),
    type: [SigningKeyRef],
    nullable: true,
    resolve: (_root, _args, { ctx }) => getSigningKeys(ctx),
  }),
)

const rotationWords = (field: keyof typeof KeyRotation.shape) => KeyRotation.shape[field].meta()?.description

const RotateSigningKeysInput = builder.inputType('RotateSigningKeysInput', {
  description: 'How the signing keys are replaced.',
  fields: (t) => ({
    activateInSeconds: t.int({ description: rotationWords('activateInSeconds') }),
    retireAtOnce: t.boolean({ description: rotationWords('retireAtOnce') }),
  }),
})

const RotateSigningKeysPayload = builder
  .objectRef<{ keys: SigningKey[] }>('RotateSigningKeysPayload')
  .implement({
    ...open('The signing keys as they are now.'),
    fields: (t) => ({
      keys: t.expose('keys', {
        type: [SigningKeyRef],
        description: 'Those that are published, newest first.',
      }),
    }),
  })

builder.mutationField('rotateSigningKeys', (t) =>
  t.field({
    ...creation(
      scoped(
        'tenant:write',
        'Replaces the signing keys of all algorithms; those before them stay published while their tokens live.',
      ),
    ),
    ...resultOf(InvalidInput, RateLimited),
    type: RotateSigningKeysPayload,
    args: {
      input: t.arg({
        type: RotateSigningKeysInput,
        required: true,
        description: 'When the new ones take over.',
      }),
    },
    resolve: async (_root, { input }, { ctx }) => ({ keys: await rotateSigningKeys(ctx, input) }),
  }),
)
