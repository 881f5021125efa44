import type { Call, Gql, Rest } from '../call.ts'
import { objectQuery, pageQuery, readGone, unknownId } from '../queries.ts'

const apiKey = objectQuery('apiKey', 'ApiKey', 'ID')
const apiKeys = pageQuery('apiKeys', 'ApiKey', 'apiKeys')
const toId = (which: string, apiKeyId: string): string =>
  which === 'present' ? apiKeyId : unknownId('apikey')

export const API_KEY_OPERATIONS: Record<string, Call[]> = {
  createApiKey: [
    { name: '', scopes: ['none'], allowedNetworks: ['x'], expiresInSeconds: 1 },
    { name: 'Export', resources: ['https://unknown.example'] },
    { name: 'Export', userId: unknownId('user') },
    { name: 'Export', scopes: ['users:read'], allowedNetworks: ['203.0.113.7/24'], expiresInSeconds: 3600 },
  ].map((input) => ({
    title: Object.keys(input).join(', '),
    rest: (): Rest => ['POST', '/api-keys', input],
    gql: (): Gql => ({
      mutation: 'createApiKey',
      input,
      read: ({ apiKey: created, key }) => ({ ...created, key }),
    }),
  })),
  listApiKeys: [{}, { page: 1, pageSize: 1 }, { pageSize: 0 }].map((page) => ({
    title: JSON.stringify(page),
    rest: (): Rest => ['GET', `/api-keys?${new URLSearchParams(page as Record<string, string>)}`],
    gql: (): Gql => apiKeys(page),
  })),
  getApiKey: ['unknown', 'present'].map((which) => ({
    title: which,
    rest: ({ apiKeyId }): Rest => ['GET', `/api-keys/${toId(which, apiKeyId)}`],
    gql: ({ apiKeyId }): Gql => ({ ...apiKey, variables: { id: toId(which, apiKeyId) } }),
  })),
  updateApiKey: [
    { which: 'unknown', input: {} },
    { which: 'present', input: { scopes: ['none'] } },
    { which: 'present', input: { name: 'Report', scopes: ['users:read', 'events:read'] } },
  ].map(({ which, input }) => ({
    title: `${which} ${JSON.stringify(input)}`,
    rest: ({ apiKeyId }): Rest => ['PATCH', `/api-keys/${toId(which, apiKeyId)}`, input],
    gql: ({ apiKeyId }): Gql => ({
      mutation: 'updateApiKey',
      input: { apiKeyId: toId(which, apiKeyId), ...input },
      read: ({ apiKey: updated }) => updated,
    }),
  })),
  rotateApiKey: [
    { which: 'unknown', input: {} },
    { which: 'present', input: { overlapSeconds: -1 } },
    { which: 'present', input: {} },
    { which: 'present', input: { overlapSeconds: 0 } },
  ].map(({ which, input }) => ({
    title: `${which} ${JSON.stringify(input)}`,
    rest: ({ apiKeyId }): Rest => ['POST', `/api-keys/${toId(which, apiKeyId)}/rotate`, input],
    gql: ({ apiKeyId }): Gql => ({
      mutation: 'rotateApiKey',
      input: { apiKeyId: toId(which, apiKeyId), ...input },
      read: ({ apiKey: rotated, ...rotation }) => ({ ...rotated, ...rotation }),
    }),
  })),
  revokeApiKey: ['unknown', 'present'].map((which) => ({
    title: which,
    rest: ({ apiKeyId }): Rest => ['DELETE', `/api-keys/${toId(which, apiKeyId)}`],
    gql: ({ apiKeyId }): Gql => ({
      mutation: 'revokeApiKey',
      input: { apiKeyId: toId(which, apiKeyId) },
      read: readGone,
    }),
  })),
}
