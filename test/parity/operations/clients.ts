import type { Call, Gql, Rest } from '../call.ts'
import { objectQuery, pageQuery, readGone, unknownId } from '../queries.ts'

const NEW_CLIENT = {
  description: 'd',
  callbacks: ['https://app.example/cb'],
  tokenExpiryTime: 600,
  scopes: ['users:read'],
  jwks: {
    keys: [{ kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo', kid: 'one' }],
  },
  backchannelLogoutUrl: 'https://app.example/logout',
  idTokenSigningAlg: 'ES384',
  idTokenClaims: true,
  organization: 'ask',
  claimMappings: [
    { claim: 'plan', source: 'appMetadata', path: '/plan', scope: 'billing', targets: ['id_token'] },
  ],
  requirePushedRequests: true,
  requireSecondFactor: true,
  resources: ['https://api.app.example'],
}
const clients = pageQuery('clients', 'Client', 'clients')
const trustedDocuments = pageQuery('trustedDocuments', 'TrustedDocument', 'trustedDocuments')
const registrationTokens = pageQuery('registrationTokens', 'RegistrationToken', 'registrationTokens')

/** Fields with the values of enums that GraphQL spells in another way. */
const toEnums = ({
  profile,
  tokenEndpointAuthMethod,
  claimMappings,
  organization,
  ...fields
}: Record<string, unknown>) => ({
  ...fields,
  ...(organization !== undefined && { organization: String(organization).toUpperCase() }),
  ...(claimMappings !== undefined && {
    claimMappings: (claimMappings as object[]).map((mapping) => ({
      ...mapping,
      source: 'APP_METADATA',
      targets: ['ID_TOKEN'],
    })),
  }),
  ...(profile !== undefined && { profile: String(profile).toUpperCase() }),
  ...(tokenEndpointAuthMethod !== undefined && {
    tokenEndpointAuthMethod: String(tokenEndpointAuthMethod).toUpperCase(),
  }),
})

export const CLIENT_OPERATIONS: Record<string, Call[]> = {
  createClient: [
    { name: '', callbacks: ['javascript:x'], scopes: ['nonsense'] },
    { name: 'Web', ...NEW_CLIENT },
    { name: 'Bank', jwks: NEW_CLIENT.jwks, profile: 'fapi2', tokenEndpointAuthMethod: 'private_key_jwt' },
    { name: 'Remote keys', jwksUri: 'https://bank.example/jwks.json', clientUri: 'https://bank.example' },
    { name: 'Keys twice', jwks: NEW_CLIENT.jwks, jwksUri: 'https://bank.example/jwks.json' },
    { name: 'Contradiction', profile: 'fapi2', requirePkce: false, rotateRefreshTokens: true },
  ].map(({ name, ...fields }) => ({
    title: name || 'invalid',
    rest: (): Rest => ['POST', '/clients', { name, type: 'login', appType: 'web', ...fields }],
    gql: (): Gql => ({
      mutation: 'createClient',
      input: { name, type: 'LOGIN', appType: 'WEB', ...toEnums(fields) },
      read: ({ client, secret }) => ({ ...client, secret }),
    }),
  })),
  listClients: [{}, { page: 0, pageSize: 1 }, { pageSize: 1001 }].map((page) => ({
    title: JSON.stringify(page),
    rest: (): Rest => ['GET', `/clients?${new URLSearchParams(page as Record<string, string>)}`],
    gql: (): Gql => clients(page),
  })),
  getClient: ['present', unknownId('client')].map((id) => ({
    title: id,
    rest: (fixture): Rest => ['GET', `/clients/${id === 'present' ? fixture.clientId : id}`],
    gql: (fixture): Gql => ({
      ...objectQuery('client', 'Client', 'ID'),
      variables: { id: id === 'present' ? fixture.clientId : id },
    }),
  })),
  updateClient: [
    { callbacks: ['https://*.example'], jwks: { keys: [{ kty: 'oct', k: 'AA' }] } },
    { resources: ['no URI'], backchannelLogoutUrl: 'http://app.example/logout' },
    { name: 'Renamed', description: '', idTokenSigningAlg: 'RS256', resources: ['urn:app:api'] },
    { idTokenSigningAlg: null, resources: null },
  ].map((fields) => ({
    title: Object.keys(fields).join(', '),
    rest: ({ clientId }): Rest => ['PATCH', `/clients/${clientId}`, fields],
    gql: ({ clientId }): Gql => ({ mutation: 'updateClient', input: { clientId, ...fields } }),
  })),
  deleteClient: [
    {
      title: 'an unknown id',
      rest: () => ['DELETE', `/clients/${unknownId('client')}`],
      gql: () => ({ mutation: 'deleteClient', input: { clientId: unknownId('client') }, read: readGone }),
    },
    {
      title: 'a client',
      rest: ({ clientId }) => ['DELETE', `/clients/${clientId}`],
      gql: ({ clientId }) => ({ mutation: 'deleteClient', input: { clientId }, read: readGone }),
    },
  ],
  rotateClientSecret: [{ overlapSeconds: -1 }, { overlapSeconds: 60 }].map((input) => ({
    title: JSON.stringify(input),
    rest: ({ clientId }): Rest => ['POST', `/clients/${clientId}/secret`, input],
    gql: ({ clientId }): Gql => ({
      mutation: 'rotateClientSecret',
      input: { clientId, ...input },
      read: ({ client, ...rest }) => ({ ...client, ...rest }),
    }),
  })),
  registerTrustedDocuments: [
    [],
    [{ documentId: 'a b', text: 'x' }],
    [{ documentId: 'users', text: 'query Users { users { totalSize } }' }],
    [{ documentId: 'users', text: '{ __typename }' }],
  ].map((documents) => ({
    title: JSON.stringify(documents),
    rest: ({ clientId }): Rest => ['POST', `/clients/${clientId}/trusted-documents`, { documents }],
    gql: ({ clientId }): Gql => ({
      mutation: 'registerTrustedDocuments',
      input: { clientId, documents },
      read: ({ registered, unchanged }) => ({ registered, unchanged }),
    }),
  })),
  listTrustedDocuments: [{}, { page: 1, pageSize: 1 }, { pageSize: 0 }].map((page) => ({
    title: JSON.stringify(page),
    rest: (): Rest => ['GET', `/trusted-documents?${new URLSearchParams(page as Record<string, string>)}`],
    gql: (): Gql => trustedDocuments(page),
  })),
  deleteTrustedDocument: ['unknown', 'present', 'present'].map((which) => ({
    title: which,
    rest: ({ trustedDocumentId }): Rest => [
      'DELETE',
      `/trusted-documents/${which === 'present' ? trustedDocumentId : unknownId('trusteddoc')}`,
    ],
    gql: ({ trustedDocumentId }): Gql => ({
      mutation: 'deleteTrustedDocument',
      input: { trustedDocumentId: which === 'present' ? trustedDocumentId : unknownId('trusteddoc') },
      read: readGone,
    }),
  })),
  createRegistrationToken: [
    { note: 'x'.repeat(201), uses: 0, expiresInSeconds: 2_592_001 },
    {},
    { note: 'Partner', uses: null, expiresInSeconds: 60 },
  ].map((input) => ({
    title: Object.keys(input).join(', '),
    rest: (): Rest => ['POST', '/clients/registration-tokens', input],
    gql: (): Gql => ({
      mutation: 'createRegistrationToken',
      input,
      read: ({ registrationToken, token }) => ({ ...registrationToken, token }),
    }),
  })),
  listRegistrationTokens: [{}, { page: 1, pageSize: 1 }, { pageSize: 0 }].map((page) => ({
    title: JSON.stringify(page),
    rest: (): Rest => [
      'GET',
      `/clients/registration-tokens?${new URLSearchParams(page as Record<string, string>)}`,
    ],
    gql: (): Gql => registrationTokens(page),
  })),
  revokeRegistrationToken: ['unknown', 'present', 'present'].map((which) => ({
    title: which,
    rest: ({ registrationTokenId }): Rest => [
      'DELETE',
      `/clients/registration-tokens/${which === 'present' ? registrationTokenId : unknownId('regtoken')}`,
    ],
    gql: ({ registrationTokenId }): Gql => ({
      mutation: 'revokeRegistrationToken',
      input: { registrationTokenId: which === 'present' ? registrationTokenId : unknownId('regtoken') },
      read: readGone,
    }),
  })),
}
