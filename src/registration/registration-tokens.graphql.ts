import { descriptionOf } from '../descriptions.ts'
import { InvalidInput, NotFound } from '../errors.ts'
import { builder } from '../graphql/builder.ts'
import { connectionType, listOf, PAGE_ARGS } from '../graphql/connection.ts'
import { creation } from '../graphql/idempotency.ts'
import { requireId } from '../graphql/node.graphql.ts'
import { resultOf } from '../graphql/result.ts'
import { open, scoped } from '../graphql/scoped.ts'
import { RegistrationTokenCreate } from './registration-tokens.fields.ts'
import {
  createRegistrationToken,
  listRegistrationTokens,
  type RegistrationToken,
  revokeRegistrationToken,
} from './registration-tokens.ts'

const words = (field: string) => descriptionOf('RegistrationToken', field)
const inputWords = (field: keyof typeof RegistrationTokenCreate.shape) =>
  RegistrationTokenCreate.shape[field].meta()?.description ?? words(field)

const RegistrationTokenRef = builder.objectRef<RegistrationToken>('RegistrationToken').implement({
  ...scoped('clients:read', 'Permits applications to register themselves (RFC 7591).'),
  fields: (t) => ({
    id: t.exposeID('id', { description: 'What names it; not the token itself.' }),
    note: t.exposeString('note', { nullable: true, description: words('note') }),
    usesLeft: t.exposeInt('usesLeft', { nullable: true, description: words('usesLeft') }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When it stops working.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was issued.' }),
  }),
})

const RegistrationTokenConnection = connectionType('RegistrationToken', RegistrationTokenRef)

builder.queryField('registrationTokens', (t) =>
  t.field({
    ...scoped('clients:read', 'The registration tokens that still permit something, oldest first.'),
    ...listOf(RegistrationTokenConnection),
    args: PAGE_ARGS,
    resolve: (_root, args, { ctx }) => listRegistrationTokens(ctx, args),
  }),
)

const CreateRegistrationTokenInput = builder.inputType('CreateRegistrationTokenInput', {
  description: 'A new registration token.',
  fields: (t) => ({
    note: t.string({ description: inputWords('note') }),
    uses: t.int({ description: inputWords('uses') }),
    expiresInSeconds: t.int({ description: inputWords('expiresInSeconds') }),
  }),
})

const CreateRegistrationTokenPayload = builder
  .objectRef<{ registrationToken: RegistrationToken; token: string }>('CreateRegistrationTokenPayload')
  .implement({
    ...open('The new registration token.'),
    fields: (t) => ({
      // Who may only write must still get the token.
      registrationToken: t.field({
        type: RegistrationTokenRef,
        nullable: true,
        description: 'What it permits; null, with an error, for callers without clients:read.',
        resolve: ({ registrationToken }) => registrationToken,
      }),
      token: t.exposeString('token', { description: 'The token, told here and nowhere else.' }),
    }),
  })

builder.mutationField('createRegistrationToken', (t) =>
  t.field({
    ...creation(scoped('clients:write', 'Issues a token with which applications register themselves.')),
    ...resultOf(InvalidInput),
    type: CreateRegistrationTokenPayload,
    args: {
      input: t.arg({ type: CreateRegistrationTokenInput, required: true, description: 'The new token.' }),
    },
    resolve: (_root, { input }, { ctx }) => createRegistrationToken(ctx, input),
  }),
)

const RevokeRegistrationTokenInput = builder.inputType('RevokeRegistrationTokenInput', {
  description: 'Input of revokeRegistrationToken.',
  fields: (t) => ({
    registrationTokenId: t.id({ required: true, description: 'Id of the registration token.' }),
  }),
})

const RevokeRegistrationTokenPayload = builder
  .objectRef<{ revokedRegistrationTokenId: string }>('RevokeRegistrationTokenPayload')
  .implement({
    ...open('It permits nothing any more.'),
    fields: (t) => ({
      revokedRegistrationTokenId: t.exposeID('revokedRegistrationTokenId', {
        description: 'Id of the registration token.',
      }),
    }),
  })

builder.mutationField('revokeRegistrationToken', (t) =>
  t.field({
    ...scoped('clients:write', 'Revokes a registration token; clients that it let in stay.'),
    ...resultOf(InvalidInput, NotFound),
    type: RevokeRegistrationTokenPayload,
    args: {
      input: t.arg({
        type: RevokeRegistrationTokenInput,
        required: true,
        description: 'The registration token.',
      }),
    },
    resolve: (_root, { input: { registrationTokenId } }, { ctx }) =>
      revokeRegistrationToken(ctx, requireId('regtoken', registrationTokenId, 'registrationTokenId')),
  }),
)
