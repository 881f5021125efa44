import { toEnvelope } from '../page.ts'
import { type RestRoute, restRoute, toDone } from '../rest/route.ts'
import { deleteClient, rotateClientSecret, updateClient } from './client-changes.ts'
import { type Client, createClient, getClient, listClients } from './clients.ts'

/** A client in the order of the spec's table. Secrets stand elsewhere and are told once, at creation. */
const toBody = (client: Client) => ({
  id: client.id,
  name: client.name,
  description: client.description,
  appType: client.appType,
  themeColor: client.themeColor,
  logoUrl: client.logoUrl,
  callbacks: client.callbacks,
  allowedOrigins: client.allowedOrigins,
  webOrigins: client.webOrigins,
  allowedLogoutUrls: client.allowedLogoutUrls,
  initiateLoginUrl: client.initiateLoginUrl,
  tokenExpiryTime: client.tokenExpiryTime,
  requireConsent: client.requireConsent,
  type: client.type,
  scopes: client.scopes,
  updatedAt: client.updatedAt,
  createdAt: client.createdAt,
})

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
    handle: async (ctx, { body }) => {
      const { client, secret } = await createClient(ctx, body)
      return { ...toBody(client), secret }
    },
  }),
  restRoute({
    method: 'GET',
    path: '/clients',
    operationId: 'listClients',
    summary: 'The clients of the tenant, optionally of one type or app type.',
    scope: 'clients:read',
    query: ['type', 'appType'],
    paged: true,
    handle: async (ctx, { query, paging }) =>
      toEnvelope(await listClients(ctx, { ...paging, filter: query }), 'clients', toBody),
  }),
  restRoute({
    method: 'GET',
    path: '/clients/:clientId',
    operationId: 'getClient',
    summary: 'One client.',
    scope: 'clients:read',
    handle: async (ctx, { params }) => toBody(await getClient(ctx, params.clientId)),
  }),
  restRoute({
    method: 'PATCH',
    path: '/clients/:clientId',
    operationId: 'updateClient',
    summary: "Changes a client. Omitted fields are unchanged; '' and null unset a field.",
    scope: 'clients:write',
    handle: async (ctx, { params, body }) => toBody(await updateClient(ctx, params.clientId, body)),
  }),
  restRoute({
    method: 'DELETE',
    path: '/clients/:clientId',
    operationId: 'deleteClient',
    summary: 'Deletes a client for ever; its tokens, and sessions that were handed to it, end.',
    scope: 'clients:write',
    handle: async (ctx, { params }) => {
      await deleteClient(ctx, params.clientId)
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
    hasBody: 'optional',
    handle: async (ctx, { params, body }) => {
      const { client, ...told } = await rotateClientSecret(ctx, params.clientId, body)
      return { ...toBody(client), ...told }
    },
  }),
]
