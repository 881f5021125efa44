import { toEnvelope } from '../page.ts'
import { Done, type RestRoute, restRoute, toDone } from '../rest/route.ts'
import { listShape, toBodyOf } from '../shapes.ts'
import { deleteClient, rotateClientSecret, updateClient } from './client-changes.ts'
import { fromPathId } from './client-ids.ts'
import { listClients } from './client-list.ts'
import { ClientShape, NewClientShape, RotatedClientShape } from './client-shapes.fields.ts'
import { ClientCreate, ClientFilter, ClientPatch, SecretRotation } from './clients.fields.ts'
import { createClient, getClient } from './clients.ts'

const toBody = toBodyOf(ClientShape)
const toNewBody = toBodyOf(NewClientShape)
const toRotatedBody = toBodyOf(RotatedClientShape)

export const clientRoutes: readonly RestRoute[] = [
  restRoute({
    method: 'POST',
    path: '/clients',
    operationId: 'createClient',
    summary: 'Creates a client; the answer holds its secret, which is told here and nowhere else.',
    scope: 'clients:write',
    idempotent: true,
    status: 201,
    location: ({ id }) => `/clients/${id}`,
    body: ClientCreate,
    response: NewClientShape,
    handle: async (ctx, { body }) => {
      const { client, secret } = await createClient(ctx, body)
      return toNewBody({ ...client, secret })
    },
  }),
  restRoute({
    method: 'GET',
    path: '/clients',
    operationId: 'listClients',
    summary: 'The clients of the tenant, optionally of one type or app type.',
    scope: 'clients:read',
    filter: ClientFilter,
    paged: true,
    response: listShape('clients', ClientShape),
    handle: async (ctx, { filter, paging }) =>
      toEnvelope(await listClients(ctx, { ...paging, filter }), 'clients', toBody),
  }),
  restRoute({
    method: 'GET',
    path: '/clients/:clientId',
    operationId: 'getClient',
    summary: 'One client.',
    scope: 'clients:read',
    response: ClientShape,
    handle: async (ctx, { params }) => toBody(await getClient(ctx, fromPathId(params.clientId))),
  }),
  restRoute({
    method: 'PATCH',
    path: '/clients/:clientId',
    operationId: 'updateClient',
    summary: "Changes a client. Omitted fields are unchanged; '' and null unset a field.",
    scope: 'clients:write',
    body: ClientPatch,
    response: ClientShape,
    errors: [409],
    handle: async (ctx, { params, body }) =>
      toBody(await updateClient(ctx, fromPathId(params.clientId), body)),
  }),
  restRoute({
    method: 'DELETE',
    path: '/clients/:clientId',
    operationId: 'deleteClient',
    summary: 'Deletes a client for ever; its tokens, and sessions that were handed to it, end.',
    scope: 'clients:write',
    response: Done,
    handle: async (ctx, { params }) => {
      await deleteClient(ctx, fromPathId(params.clientId))
      return toDone(ctx, 'The client was deleted.')
    },
  }),
  restRoute({
    method: 'POST',
    path: '/clients/:clientId/secret',
    operationId: 'rotateClientSecret',
    summary:
      'Makes a new secret, which is told here and nowhere else; the one before lives on for overlapSeconds.',
    scope: 'clients:write',
    idempotent: true,
    isBodyOptional: true,
    body: SecretRotation,
    response: RotatedClientShape,
    handle: async (ctx, { params, body }) => {
      const { client, ...told } = await rotateClientSecret(ctx, fromPathId(params.clientId), body)
      return toRotatedBody({ ...client, ...told })
    },
  }),
]
