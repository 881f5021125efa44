import { parseClientPathId } from '../access/client-ids.ts'
import { DoneShape, defineRestRoute, type RestRoute, toDoneBody } from '../rest/route.ts'
import { toPageEnvelope } from '../schema/page.ts'
import { createBodyMapper, createListShape } from '../schema/response-shapes.ts'
import { deleteClient, rotateClientSecret, updateClient } from './client-changes.ts'
import { listClients } from './client-list.ts'
import { ClientShape, NewClientShape, RotatedClientShape } from './client-shapes.fields.ts'
import { ClientCreate, ClientFilter, ClientPatch, SecretRotation } from './clients.fields.ts'
import { createClient, getClient } from './clients.ts'

const toClientBody = createBodyMapper(ClientShape)
const toNewClientBody = createBodyMapper(NewClientShape)
const toRotatedClientBody = createBodyMapper(RotatedClientShape)

export const clientRoutes: readonly RestRoute[] = [
  defineRestRoute({
    method: 'POST',
    path: '/clients',
    operationId: 'createClient',
    summary: 'Creates a client. The response contains its secret, which is shown only once.',
    scope: 'clients:write',
    idempotent: true,
    status: 201,
    location: ({ id }) => `/clients/${id}`,
    body: ClientCreate,
    response: NewClientShape,
    handle: async (ctx, { body }) => {
      const { client, secret } = await createClient(ctx, body)
      return toNewClientBody({ ...client, secret })
    },
  }),
  defineRestRoute({
    method: 'GET',
    path: '/clients',
    operationId: 'listClients',
    summary: 'The clients of the tenant, optionally of one type or app type.',
    scope: 'clients:read',
    filter: ClientFilter,
    paged: true,
    response: createListShape('clients', ClientShape),
    handle: async (ctx, { filter, paging }) =>
      toPageEnvelope(ctx, await listClients(ctx, { ...paging, filter }), 'clients', toClientBody),
  }),
  defineRestRoute({
    method: 'GET',
    path: '/clients/:clientId',
    operationId: 'getClient',
    summary: 'A client.',
    scope: 'clients:read',
    response: ClientShape,
    handle: async (ctx, { params }) => toClientBody(await getClient(ctx, parseClientPathId(params.clientId))),
  }),
  defineRestRoute({
    method: 'PATCH',
    path: '/clients/:clientId',
    operationId: 'updateClient',
    summary: "Updates a client. Omitted fields are unchanged; null and, for text, '' unset a field.",
    scope: 'clients:write',
    body: ClientPatch,
    response: ClientShape,
    errors: [409],
    handle: async (ctx, { params, body }) =>
      toClientBody(await updateClient(ctx, parseClientPathId(params.clientId), body)),
  }),
  defineRestRoute({
    method: 'DELETE',
    path: '/clients/:clientId',
    operationId: 'deleteClient',
    summary: 'Deletes a client permanently. Its tokens are revoked and its sessions end.',
    scope: 'clients:write',
    response: DoneShape,
    handle: async (ctx, { params }) => {
      await deleteClient(ctx, parseClientPathId(params.clientId))
      return toDoneBody(ctx, 'The client was deleted.')
    },
  }),
  defineRestRoute({
    method: 'POST',
    path: '/clients/:clientId/secret',
    operationId: 'rotateClientSecret',
    summary:
      'Creates a new secret, which is shown only once. The previous secret stays valid for overlapSeconds.',
    scope: 'clients:write',
    idempotent: true,
    isBodyOptional: true,
    body: SecretRotation,
    response: RotatedClientShape,
    handle: async (ctx, { params, body }) => {
      const { client, ...rotation } = await rotateClientSecret(ctx, parseClientPathId(params.clientId), body)
      return toRotatedClientBody({ ...client, ...rotation })
    },
  }),
]
