import type { Call, Gql, Rest } from '../call.ts'
import type { Fixture } from '../fixture.ts'
import { objectQuery, pageQuery, readGone, select, unknownId, userListQuery } from '../queries.ts'

const NEW_IDP = {
  name: 'New',
  issuer: 'https://new.example',
  clientId: 'us',
  clientSecret: 'hush',
  scopes: 'openid email',
}
const idps = pageQuery('identityProviders', 'IdentityProvider', 'idps')

export const IDENTITY_PROVIDER_OPERATIONS: Record<string, Call[]> = {
  createIdentityProvider: [
    { id: '', type: 'oidc', name: '', issuer: 'javascript:x' },
    { id: 'acme', type: 'oidc', ...NEW_IDP },
    { id: 'new', type: 'oidc', ...NEW_IDP },
  ].map((fields) => ({
    title: `${fields.id} ${fields.name}`,
    rest: (): Rest => ['POST', '/idps', fields],
    gql: (): Gql => ({ mutation: 'createIdentityProvider', input: { ...fields, type: 'OIDC' } }),
  })),
  listIdentityProviders: [{}, { page: 1, pageSize: 2 }, { pageSize: 0 }].map((page) => ({
    title: JSON.stringify(page),
    rest: (): Rest => ['GET', `/idps?${new URLSearchParams(page as Record<string, string>)}`],
    gql: (): Gql => idps(page),
  })),
  getIdentityProvider: ['acme', 'nowhere'].map((id) => ({
    title: id,
    rest: (): Rest => ['GET', `/idps/${id}`],
    gql: (): Gql => ({ ...objectQuery('identityProvider', 'IdentityProvider', 'ID'), variables: { id } }),
  })),
  updateIdentityProvider: [
    { issuer: 'javascript:x' },
    { name: 'Acme', clientSecret: 'hush', scopes: '' },
  ].map((fields) => ({
    title: Object.keys(fields).join(', '),
    rest: (): Rest => ['PATCH', '/idps/acme', fields],
    gql: (): Gql => ({ mutation: 'updateIdentityProvider', input: { idpId: 'acme', ...fields } }),
  })),
  testIdentityProvider: ['nowhere', 'real'].map((idpId) => ({
    title: idpId,
    rest: (): Rest => ['POST', `/idps/${idpId}/test`],
    gql: (): Gql => ({
      mutation: 'testIdentityProvider',
      input: { idpId },
      read: ({ succeeded, findings }) => ({
        succeeded,
        findings: findings.map(({ check, status, ...found }: Record<string, string>) => ({
          check: check?.toLowerCase(),
          status: status?.toLowerCase(),
          ...found,
        })),
      }),
    }),
  })),
  rotateSignalsSecret: ['nowhere', 'acme'].map((idpId) => ({
    title: idpId,
    rest: (): Rest => ['POST', `/idps/${idpId}/signals-secret`],
    gql: (): Gql => ({
      mutation: 'rotateSignalsSecret',
      input: { idpId },
      read: ({ secret }) => ({ secret }),
    }),
  })),
  deleteIdentityProvider: ['nowhere', 'acme'].map((idpId) => ({
    title: idpId,
    rest: (): Rest => ['DELETE', `/idps/${idpId}`],
    gql: (): Gql => ({ mutation: 'deleteIdentityProvider', input: { idpId }, read: readGone }),
  })),
  listIdpUsers: ['present', unknownId('user')].map((id) => ({
    title: id,
    rest: (fixture): Rest => ['GET', `/users/${id === 'present' ? fixture.userId : id}/idps`],
    gql: (fixture): Gql =>
      userListQuery('idpUsers', 'IdpUser', 'idpUsers')(id === 'present' ? fixture.userId : id),
  })),
  addIdpUser: [
    { idpId: 'nowhere', externalId: 'x' },
    { idpId: 'other', externalId: '' },
    { idpId: 'acme', externalId: 'ada-2' },
    { idpId: 'other', externalId: 'ada-3', metadata: { team: 7 } },
  ].map(({ idpId, ...fields }) => ({
    title: `${idpId} ${fields.externalId}`,
    rest: ({ userId }): Rest => ['POST', `/users/${userId}/idps/${idpId}`, fields],
    gql: ({ userId }): Gql => ({ mutation: 'addIdpUser', input: { userId, idpId, ...fields } }),
  })),
  getIdpUser: ['acme', 'other'].map((idpId) => ({
    title: idpId,
    rest: ({ userId }): Rest => ['GET', `/users/${userId}/idps/${idpId}`],
    gql: ({ userId }): Gql => ({
      query: `query($id: ID!, $idpId: ID!) { result: idpUser(userId: $id, idpId: $idpId) ${select('IdpUser')} }`,
      variables: { id: userId, idpId },
      read: (data) => data.result,
    }),
  })),
  getIdpUserTokens: ['acme', 'other'].map((idpId) => ({
    title: idpId,
    rest: ({ userId }): Rest => ['GET', `/users/${userId}/idps/${idpId}/tokens`],
    gql: ({ userId }): Gql => ({
      mutation: 'getIdpUserTokens',
      input: { userId, idpId },
    }),
  })),
  linkIdpUser: [
    ...[
      { idpId: 'real', proof: async () => ({}) },
      { idpId: 'real', proof: async () => ({ idToken: 'no token' }) },
      {
        idpId: 'real',
        proof: async ({ upstream }: Fixture) => ({ code: 'used', redirectUri: upstream.redirectUri }),
      },
      { idpId: 'real', proof: ({ upstream }: Fixture) => upstream.codeFor('upstream-ada') },
    ].map(({ idpId, proof }) => ({
      title: String(proof),
      rest: async (fixture: Fixture): Promise<Rest> => [
        'PUT',
        `/users/${fixture.userId}/idps/${idpId}`,
        await proof(fixture),
      ],
      gql: async (fixture: Fixture): Promise<Gql> => ({
        mutation: 'linkIdpUser',
        input: { userId: fixture.userId, idpId, ...(await proof(fixture)) },
      }),
    })),
  ],
  unlinkIdpUser: ['other', 'acme'].map((idpId) => ({
    title: idpId,
    rest: ({ userId }): Rest => ['DELETE', `/users/${userId}/idps/${idpId}`],
    gql: ({ userId }): Gql => ({ mutation: 'unlinkIdpUser', input: { userId, idpId }, read: readGone }),
  })),
}
