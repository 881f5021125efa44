import type { Json } from '../../support/json.ts'
import type { Call, Gql, Rest } from '../call.ts'
import { select } from '../queries.ts'

export const TENANT_OPERATIONS: Record<string, Call[]> = {
  updateTenantSettings: [
    { logoUrl: 'javascript:x', supportUrl: 'x' },
    { dynamicRegistration: true, clientIdMetadataDocuments: true },
    { dynamicRegistration: null },
    { friendlyName: 'Parity', supportUrl: 'https://help.example' },
  ].map((settings) => ({
    title: Object.keys(settings).join(', '),
    rest: (): Rest => ['PATCH', '/settings', settings],
    gql: (): Gql => ({
      mutation: 'updateTenantSettings',
      input: settings,
      read: ({ tenant }) => tenant.settings,
    }),
  })),
  rotateSigningKeys: [
    { activateInSeconds: -1 },
    { activateInSeconds: 60, retireAtOnce: true },
    { activateInSeconds: 60, retireAtOnce: false },
    {},
  ].map((input) => ({
    title: JSON.stringify(input),
    rest: (): Rest => ['POST', '/keys/rotate', input],
    gql: (): Gql => ({ mutation: 'rotateSigningKeys', input, read: ({ keys }) => ({ keys }) }),
  })),
  getSigningKeys: [
    {
      title: 'all',
      rest: (): Rest => ['GET', '/keys'],
      gql: (): Gql => ({
        query: `{ result: signingKeys ${select('SigningKey')} }`,
        read: ({ result }: Json) => ({ keys: result }),
      }),
    },
  ],
}
