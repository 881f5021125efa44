import { Conflict, NotFound } from '../core/errors.ts'
import { defineList } from '../operations/list.ts'
import { defineMutation } from '../operations/mutation.ts'
import { defineLookup } from '../operations/query.ts'
import { defineResource } from '../operations/resource.ts'
import type { RestRoute } from '../rest/route.ts'
import { encodeIdCursor } from '../schema/page.ts'
import { createBodyMapper, idShape } from '../schema/response-shapes.ts'
import { deleteClient, updateClient } from './client-changes.ts'
import { CLIENT_FILTER, ClientCreate, ClientPatch, SecretRotation } from './client-inputs.fields.ts'
import { listClients, toClientListName } from './client-list.ts'
import { rotateClientSecret } from './client-secrets.ts'
import { ClientShape, NewClientShape, RotatedClientShape } from './clients.fields.ts'
import { ClientRef } from './clients.graphql.ts'
import { type Client, createClient, getClient } from './clients.ts'

export const CLIENT = defineResource<Client>({
  member: 'client',
  ref: ClientRef as never,
  scope: 'clients:read',
  shape: ClientShape,
  toCursor: ({ tenant }, { id }) => encodeIdCursor(toClientListName(tenant), id),
})

const toNewClientBody = createBodyMapper(NewClientShape)
const toRotatedClientBody = createBodyMapper(RotatedClientShape)

export const clientOperations: readonly RestRoute[] = [
  ...defineMutation({
    name: 'createClient',
    summary:
      'Creates a client. The response contains its secret, which is shown only once. Callers can only grant scopes that they have.',
    scope: 'clients:write',
    isCreation: true,
    input: ClientCreate,
    output: { client: CLIENT, secret: NewClientShape.shape.secret },
    rest: {
      method: 'POST',
      path: '/clients',
      status: 201,
      location: ({ id }) => `/clients/${id}`,
      response: NewClientShape,
      toBody: (_ctx, { client, secret }) => toNewClientBody({ ...client, secret }),
    },
    run: (ctx, _ids, input) => createClient(ctx, input),
  }),
  ...defineList({
    name: 'listClients',
    summary: 'The clients of the tenant, oldest first.',
    resource: CLIENT,
    filter: CLIENT_FILTER,
    path: '/clients',
    run: listClients,
  }),
  ...defineLookup({
    name: 'getClient',
    field: 'client',
    summary: 'A client.',
    resource: CLIENT,
    target: 'clientId',
    path: '/clients/:clientId',
    run: getClient,
  }),
  ...defineMutation({
    name: 'updateClient',
    summary:
      "Updates a client, which must be valid as a whole. Omitted fields are unchanged; null and, for text, '' unset a field. Callers can only grant or remove scopes that they have.",
    scope: 'clients:write',
    targets: ['clientId'],
    input: ClientPatch,
    errors: [Conflict, NotFound],
    output: { client: CLIENT },
    rest: { method: 'PATCH', path: '/clients/:clientId' },
    run: async (ctx, { clientId }, input) => ({ client: await updateClient(ctx, clientId, input) }),
  }),
  ...defineMutation({
    name: 'deleteClient',
    summary: 'Deletes a client permanently. Its tokens are revoked and its sessions end.',
    scope: 'clients:write',
    targets: ['clientId'],
    errors: [NotFound],
    output: { deletedClientId: idShape.meta({ description: 'Id of the deleted client.' }) },
    rest: { method: 'DELETE', path: '/clients/:clientId', message: 'The client was deleted.' },
    run: (ctx, { clientId }) => deleteClient(ctx, clientId),
  }),
  ...defineMutation({
    name: 'rotateClientSecret',
    summary:
      'Creates a new secret for a web or machine client, which is shown only once. The previous secret stays valid for overlapSeconds; an older one is deleted.',
    scope: 'clients:write',
    isCreation: true,
    targets: ['clientId'],
    input: SecretRotation,
    isInputOptional: true,
    errors: [NotFound],
    output: {
      client: CLIENT,
      secret: RotatedClientShape.shape.secret,
      previousSecretExpiresAt: RotatedClientShape.shape.previousSecretExpiresAt,
    },
    rest: {
      method: 'POST',
      path: '/clients/:clientId/secret',
      response: RotatedClientShape,
      toBody: (_ctx, { client, ...rotation }) => toRotatedClientBody({ ...client, ...rotation }),
    },
    run: (ctx, { clientId }, input) => rotateClientSecret(ctx, clientId, input),
  }),
]
