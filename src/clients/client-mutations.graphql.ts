import { Conflict, InvalidInput, NotFound } from '../core/errors.ts'
import { builder } from '../graphql/builder.ts'
import { withPublicAccess, withScope } from '../graphql/field-access.ts'
import { markCreation } from '../graphql/idempotency.ts'
import { requireClientId } from '../graphql/node.graphql.ts'
import { toResultOptions } from '../graphql/result-options.ts'
import { EXPECTED_UPDATED_AT_DESCRIPTION } from '../schema/expected-updated-at.ts'
import { deleteClient, type RotatedSecret, rotateClientSecret, updateClient } from './client-changes.ts'
import { buildClientInputFields, ClientAppTypeEnum, ClientRef } from './clients.graphql.ts'
import type { Client } from './clients.ts'

/** Callers with the write scope alone must still learn that the write succeeded. */
const CLIENT_DESCRIPTION =
  'The client after the change; null, with an error, for callers without clients:read.'

const ClientPayload = builder.objectRef<{ client: Client }>('ClientPayload').implement({
  ...withPublicAccess('The changed client.'),
  fields: (t) => ({
    client: t.field({
      type: ClientRef,
      nullable: true,
      description: CLIENT_DESCRIPTION,
      resolve: ({ client }) => client,
    }),
  }),
})

const UpdateClientFieldsInput = builder.inputType('UpdateClientFieldsInput', {
  description:
    'Fields of a client to update. Omitted is unchanged; null unsets, and an empty string unsets a text.',
  fields: (t) => ({
    name: t.string({ description: 'Name shown to people; cannot be unset.' }),
    appType: t.field({
      type: ClientAppTypeEnum,
      description:
        'The kind of application. A client that becomes single-page or native loses its secrets; one that becomes web or machine gets a secret by rotateClientSecret.',
    }),
    ...buildClientInputFields(t),
  }),
})

const UpdateClientInput = builder.inputType('UpdateClientInput', {
  description: 'Input of updateClient.',
  fields: (t) => ({
    clientId: t.id({ required: true, description: 'Id of the client.' }),
    expectedUpdatedAt: t.field({ type: 'DateTime', description: EXPECTED_UPDATED_AT_DESCRIPTION }),
    fields: t.field({ type: UpdateClientFieldsInput, required: true, description: 'The fields to update.' }),
  }),
})

builder.mutationField('updateClient', (t) =>
  t.field({
    ...withScope(
      'clients:write',
      'Updates a client. The result must be valid as a whole. Callers can only grant or remove scopes that they have.',
    ),
    ...toResultOptions(InvalidInput, Conflict, NotFound),
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
  ...withPublicAccess('The client was deleted.'),
  fields: (t) => ({
    deletedClientId: t.exposeID('deletedClientId', { description: 'Id of the deleted client.' }),
  }),
})

const DeleteClientInput = builder.inputType('DeleteClientInput', {
  description: 'Input of deleteClient.',
  fields: (t) => ({ clientId: t.id({ required: true, description: 'Id of the client.' }) }),
})

builder.mutationField('deleteClient', (t) =>
  t.field({
    ...withScope(
      'clients:write',
      'Deletes a client permanently. Its tokens are revoked and its sessions end.',
    ),
    ...toResultOptions(InvalidInput, NotFound),
    type: DeleteClientPayload,
    args: { input: t.arg({ type: DeleteClientInput, required: true, description: 'The client.' }) },
    resolve: (_root, { input: { clientId } }, { ctx }) =>
      deleteClient(ctx, requireClientId(clientId, 'clientId')),
  }),
)

const RotateClientSecretPayload = builder.objectRef<RotatedSecret>('RotateClientSecretPayload').implement({
  ...withPublicAccess('The new secret.'),
  fields: (t) => ({
    client: t.field({
      type: ClientRef,
      nullable: true,
      description: CLIENT_DESCRIPTION,
      resolve: ({ client }) => client,
    }),
    secret: t.exposeString('secret', { description: 'The new secret. It is shown only once.' }),
    previousSecretExpiresAt: t.expose('previousSecretExpiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the previous secret expires; null when there is none.',
    }),
  }),
})

const RotateClientSecretInput = builder.inputType('RotateClientSecretInput', {
  description: 'Input of rotateClientSecret.',
  fields: (t) => ({
    clientId: t.id({ required: true, description: 'Id of the client.' }),
    overlapSeconds: t.int({
      defaultValue: 86_400,
      description:
        'How long the current secret stays valid, 0 to 2592000 seconds. An older secret is deleted immediately.',
    }),
  }),
})

builder.mutationField('rotateClientSecret', (t) =>
  t.field({
    ...markCreation(
      withScope(
        'clients:write',
        'Creates a new secret for a web or machine client. At most two secrets are valid.',
      ),
    ),
    ...toResultOptions(InvalidInput, NotFound),
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
