import { InvalidInput, NotFound } from '../core/errors.ts'
import { builder } from '../graphql/builder.ts'
import { connectionField, defineConnectionType, PAGE_ARGS } from '../graphql/connection.ts'
import { withPublicAccess, withScope } from '../graphql/field-access.ts'
import { markCreation } from '../graphql/idempotency.ts'
import { requireNodeId } from '../graphql/node.graphql.ts'
import { toResultOptions } from '../graphql/result-options.ts'
import { findDescription } from '../schema/schema-descriptions.ts'
import { RegistrationTokenCreate } from './registration-tokens.fields.ts'
import {
  createRegistrationToken,
  listRegistrationTokens,
  type RegistrationToken,
  revokeRegistrationToken,
} from './registration-tokens.ts'

const describeField = (field: string) => findDescription('RegistrationToken', field)
const describeInputField = (field: keyof typeof RegistrationTokenCreate.shape) =>
  RegistrationTokenCreate.shape[field].meta()?.description ?? describeField(field)

const RegistrationTokenRef = builder.objectRef<RegistrationToken>('RegistrationToken').implement({
  ...withScope('clients:read', 'Permits applications to register themselves (RFC 7591).'),
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Id of the registration token, not the token itself.' }),
    note: t.exposeString('note', { nullable: true, description: describeField('note') }),
    usesLeft: t.exposeInt('usesLeft', { nullable: true, description: describeField('usesLeft') }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When it expires.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was issued.' }),
  }),
})

const RegistrationTokenConnection = defineConnectionType('RegistrationToken', RegistrationTokenRef)

builder.queryField('registrationTokens', (t) =>
  t.field({
    ...withScope('clients:read', 'The active registration tokens, oldest first.'),
    ...connectionField(RegistrationTokenConnection),
    args: PAGE_ARGS,
    resolve: (_root, args, { ctx }) => listRegistrationTokens(ctx, args),
  }),
)

const CreateRegistrationTokenInput = builder.inputType('CreateRegistrationTokenInput', {
  description: 'A new registration token.',
  fields: (t) => ({
    note: t.string({ description: describeInputField('note') }),
    uses: t.int({ description: describeInputField('uses') }),
    expiresInSeconds: t.int({ description: describeInputField('expiresInSeconds') }),
  }),
})

const CreateRegistrationTokenPayload = builder
  .objectRef<{ registrationToken: RegistrationToken; token: string }>('CreateRegistrationTokenPayload')
  .implement({
    ...withPublicAccess('The new registration token.'),
    fields: (t) => ({
      // Nullable, so that callers with only clients:write receive the token.
      registrationToken: t.field({
        type: RegistrationTokenRef,
        nullable: true,
        description: 'The registration token; null, with an error, for callers without clients:read.',
        resolve: ({ registrationToken }) => registrationToken,
      }),
      token: t.exposeString('token', { description: 'The token, returned only here.' }),
    }),
  })

builder.mutationField('createRegistrationToken', (t) =>
  t.field({
    ...markCreation(
      withScope('clients:write', 'Issues a token with which applications register themselves.'),
    ),
    ...toResultOptions(InvalidInput),
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
    ...withPublicAccess('The registration token is revoked.'),
    fields: (t) => ({
      revokedRegistrationTokenId: t.exposeID('revokedRegistrationTokenId', {
        description: 'Id of the registration token.',
      }),
    }),
  })

builder.mutationField('revokeRegistrationToken', (t) =>
  t.field({
    ...withScope('clients:write', 'Revokes a registration token; clients that it registered stay.'),
    ...toResultOptions(InvalidInput, NotFound),
    type: RevokeRegistrationTokenPayload,
    args: {
      input: t.arg({
        type: RevokeRegistrationTokenInput,
        required: true,
        description: 'The registration token.',
      }),
    },
    resolve: (_root, { input: { registrationTokenId } }, { ctx }) =>
      revokeRegistrationToken(ctx, requireNodeId('regtoken', registrationTokenId, 'registrationTokenId')),
  }),
)
