import { Conflict, InvalidInput, NotFound } from '../errors.ts'
import { EXPECTED_UPDATED_AT } from '../expected-updated-at.ts'
import { builder } from '../graphql/builder.ts'
import { creation } from '../graphql/idempotency.ts'
import { requireClientId } from '../graphql/node.graphql.ts'
import { resultOf } from '../graphql/result.ts'
import { open, scoped } from '../graphql/scoped.ts'
import { deleteClient, type RotatedSecret, rotateClientSecret, updateClient } from './client-changes.ts'
import { ClientAppTypeEnum, ClientRef, clientInputFields } from './clients.graphql.ts'
import type { Client } from './clients.ts'

/** Who may only write must still learn that the write was done. */
const CLIENT_NOW = 'The client as it is now; null, with an error, for callers without clients:read.'

const ClientPayload = builder.objectRef<{ client: Client }>('ClientPayload').implement({
  ...open('The client that was written.'),
  fields: (t) => ({
    client: t.field({
      type: ClientRef,
      nullable: true,
      description: CLIENT_NOW,
      resolve: ({ client }) => client,
    }),
  }),
})

const UpdateClientFieldsInput = builder.inputType('UpdateClientFieldsInput', {
  description: 'What is changed of a client. Omitted is unchanged; an empty string or null unsets.',
  fields: (t) => ({
    name: t.string({ description: 'Name shown to people; cannot be unset.' }),
    appType: t.field({
      type: ClientAppTypeEnum,
      description:
        'What kind of application it is. One that becomes single-page or native loses its secrets; one that becomes web or machine gets one by rotateClientSecret.',
    }),
    ...clientInputFields(t),
  }),
})

const UpdateClientInput = builder.inputType('UpdateClientInput', {
  description: 'Input of updateClient.',
  fields: (t) => ({
    clientId: t.id({ required: true, description: 'Id of the client.' }),
    expectedUpdatedAt: t.field({ type: 'DateTime', description: EXPECTED_UPDATED_AT }),
    fields: t.field({ type: UpdateClientFieldsInput, required: true, description: 'What is changed.' }),
  }),
})

builder.mutationField('updateClient', (t) =>
  t.field({
    ...scoped(
      'clients:write',
      'Changes a client, which must be valid as a whole afterwards. Nobody gives or takes scopes that they lack.',
    ),
    ...resultOf(InvalidInput, Conflict, NotFound),
    type: ClientPayload,
    args: {
      input: t.arg({ type: UpdateClientInput, required: true, description: 'The client and the change.' }),
    },
    resolve: async (_root, { input: { clientId, expectedUpdatedAt, fields } }, { ctx }) => ({
      client: await updateClient(ctx, requireClientId(clientId, 'clientId'), {
        ...fields,
        expectedUpdatedAt,
      }),
    }),
  }),
)

const DeleteClientPayload = builder.objectRef<{ deletedClientId: string }>('DeleteClientPayload').implement({
  ...open('The client is gone.'),
  fields: (t) => ({
    deletedClientId: t.exposeID('deletedClientId', { description: 'Id that the client had.' }),
  }),
})

const DeleteClientInput = builder.inputType('DeleteClientInput', {
  description: 'Input of deleteClient.',
  fields: (t) => ({ clientId: t.id({ required: true, description: 'Id of the client.' }) }),
})

builder.mutationField('deleteClient', (t) =>
  t.field({
    ...scoped(
      'clients:write',
      'Deletes a client for ever; its tokens, and sessions that were handed to it, end.',
    ),
    ...resultOf(InvalidInput, NotFound),
    type: DeleteClientPayload,
    args: { input: t.arg({ type: DeleteClientInput, required: true, description: 'The client.' }) },
    resolve: (_root, { input: { clientId } }, { ctx }) =>
      deleteClient(ctx, requireClientId(clientId, 'clientId')),
  }),
)

const RotateClientSecretPayload = builder.objectRef<RotatedSecret>('RotateClientSecretPayload').implement({
  ...open('The new secret.'),
  fields: (t) => ({
    client: t.field({
      type: ClientRef,
      nullable: true,
      description: CLIENT_NOW,
      resolve: ({ client }) => client,
    }),
    secret: t.exposeString('secret', { description: 'The new secret, told here and nowhere else.' }),
    previousSecretExpiresAt: t.expose('previousSecretExpiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the secret before stops working; null when none lives on.',
    }),
  }),
})

const RotateClientSecretInput = builder.inputType('RotateClientSecretInput', {
  description: 'Input of rotateClientSecret.',
  fields: (t) => ({
    clientId: t.id({ required: true, description: 'Id of the client.' }),
    overlapSeconds: t.int({
      defaultValue: 86_400,
      description: 'How long the current secret lives on, 0 to 2592000 seconds. One before it ends at once.',
    }),
  }),
})

builder.mutationField('rotateClientSecret', (t) =>
  t.field({
    ...creation(scoped('clients:write', 'Makes a new secret for a web or machine client; two live at most.')),
    ...resultOf(InvalidInput, NotFound),
    type: RotateClientSecretPayload,
    args: {
      input: t.arg({
        type: RotateClientSecretInput,
        required: true,
        description: 'The client and the overlap.',
      }),
    },
    resolve: (_root, { input: { clientId, ...rotation } }, { ctx }) =>
      rotateClientSecret(ctx, requireClientId(clientId, 'clientId'), rotation),
  }),
)
