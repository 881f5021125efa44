import { type Any, type Call, GONE, type Gql, type Rest } from './call.ts'
import { allFieldsOf } from './compare.ts'
import { EMAIL, NOBODY, PHONE, type World } from './world.ts'

const done = () => GONE
const node = (type: string) => `{ __typename ${allFieldsOf(type)} }`
const one = (field: string, type: string, variable: string, argument = 'id') => ({
  query: `query($id: ${variable}!) { result: ${field}(${argument}: $id) ${node(type)} }`,
  read: (data: Any) => data.result,
})
const list = (field: string, type: string, name: string) => (page: object) => ({
  query: `query($page: Int, $pageSize: Int) { result: ${field}(page: $page, pageSize: $pageSize) { page pageSize totalSize nodes ${node(type)} } }`,
  variables: page,
  read: ({ result: { nodes, ...envelope } }: Any) => ({ ...envelope, [name]: nodes }),
})
const nested = (field: string, type: string, name: string) => (userId: string) => ({
  query: `query($id: ID!) { user(id: $id) { list: ${field}(first: 50) { pageSize totalSize nodes ${node(type)} } } }`,
  variables: { id: userId },
  read: ({ user }: Any) =>
    user && {
      page: 0,
      pageSize: user.list.pageSize,
      totalSize: user.list.totalSize,
      [name]: user.list.nodes,
    },
})
const nobody = (kind: string) => `${kind}_${NOBODY}`

const users = list('users', 'User', 'users')
const clients = list('clients', 'Client', 'clients')
const registrationTokens = list('registrationTokens', 'RegistrationToken', 'registrationTokens')
const idps = list('identityProviders', 'IdentityProvider', 'idps')
const NEW_USER = {
  name: 'Cleo',
  givenName: 'Cleo',
  email: 'Cleo@Parity.example',
  locked: true,
  address: { country: 'CH' },
}
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
  requirePushedRequests: true,
  resources: ['https://api.app.example'],
}
const NEW_IDP = {
  name: 'New',
  issuer: 'https://new.example',
  clientId: 'us',
  clientSecret: 'hush',
  scopes: 'openid email',
}
const FAULTY_USER = {
  email: 'no address',
  birthdate: '1815-13-10',
  emailVerified: true,
  website: 'javascript:x',
}

/** Every operation of the table, with the calls that are refused first. */
export const OPERATIONS: Record<string, Call[]> = {
  createUser: [
    ...[FAULTY_USER, { email: EMAIL, phoneNumber: PHONE }, NEW_USER, {}].map((fields) => ({
      title: Object.keys(fields).join(', ') || 'nothing',
      rest: (): Rest => ['POST', '/users', fields],
      gql: (): Gql => ({ mutation: 'createUser', input: { fields } }),
    })),
  ],
  listUsers: [{ pageSize: 0 }, { page: -1, pageSize: 1001 }, {}, { page: 1, pageSize: 1 }].map((page) => ({
    title: JSON.stringify(page),
    rest: (): Rest => ['GET', `/users?${new URLSearchParams(page as Record<string, string>)}`],
    gql: (): Gql => users(page),
  })),
  getUser: ['them', nobody('user')].map((id) => ({
    title: id,
    rest: (world): Rest => ['GET', `/users/${id === 'them' ? world.userId : id}`],
    gql: (world): Gql => ({
      ...one('user', 'User', 'ID'),
      variables: { id: id === 'them' ? world.userId : id },
    }),
  })),
  updateUser: [
    ...[
      FAULTY_USER,
      { email: 'bob@parity.example' },
      { locked: true, name: '', address: { region: 'x' } },
    ].map((fields) => ({
      title: Object.keys(fields).join(', '),
      rest: (world: World): Rest => ['PATCH', `/users/${world.userId}`, fields],
      gql: (world: World): Gql => ({ mutation: 'updateUser', input: { userId: world.userId, fields } }),
    })),
    {
      title: 'of nobody',
      rest: () => ['PATCH', `/users/${nobody('user')}`, { name: 'x' }],
      gql: () => ({ mutation: 'updateUser', input: { userId: nobody('user'), fields: { name: 'x' } } }),
    },
  ],
  deleteUser: [
    {
      title: 'of nobody',
      rest: () => ['DELETE', `/users/${nobody('user')}`],
      gql: () => ({ mutation: 'deleteUser', input: { userId: nobody('user') }, read: done }),
    },
    {
      title: 'with everything',
      rest: ({ userId }) => ['DELETE', `/users/${userId}`],
      gql: ({ userId }) => ({ mutation: 'deleteUser', input: { userId }, read: done }),
    },
  ],
  getUserByEmail: ['ADA@parity.example', 'nobody@parity.example', 'no address'].map((email) => ({
    title: email,
    rest: (): Rest => ['GET', `/users/by-email?email=${encodeURIComponent(email)}`],
    gql: (): Gql => ({ ...one('userByEmail', 'User', 'String', 'email'), variables: { id: email } }),
  })),
  getUserByPhoneNumber: ['+41 79 111 22 33', '+41790000000', 'x'].map((number) => ({
    title: number,
    rest: (): Rest => ['GET', `/users/by-phone-number?phoneNumber=${encodeURIComponent(number)}`],
    gql: (): Gql => ({
      ...one('userByPhoneNumber', 'User', 'String', 'phoneNumber'),
      variables: { id: number },
    }),
  })),
  listUserSessions: ['them', nobody('user')].map((id) => ({
    title: id,
    rest: (world): Rest => ['GET', `/users/${id === 'them' ? world.userId : id}/sessions`],
    gql: (world): Gql => nested('sessions', 'Session', 'sessions')(id === 'them' ? world.userId : id),
  })),
  authenticateSession: [
    { sessionToken: 'wrong' },
    { sessionToken: '', sessionExpirationMinutes: 129_601 },
    {
      sessionExpirationMinutes: 60,
      rotateSessionToken: true,
      metadata: { ipAddress: '192.0.2.1', userAgent: 'x' },
    },
  ].map((input) => ({
    title: JSON.stringify(input),
    rest: ({ sessionToken }): Rest => ['POST', '/sessions/authenticate', { sessionToken, ...input }],
    gql: ({ sessionToken }): Gql => ({
      mutation: 'authenticateSession',
      input: { sessionToken, ...input },
      read: (payload) => payload,
    }),
  })),
  getSession: ['theirs', nobody('session')].map((id) => ({
    title: id,
    rest: (world): Rest => ['GET', `/sessions/${id === 'theirs' ? world.sessionId : id}`],
    gql: (world): Gql => ({
      ...one('session', 'Session', 'ID'),
      variables: { id: id === 'theirs' ? world.sessionId : id },
    }),
  })),
  sendEmailPasscode: [
    { to: 'nobody@parity.example' },
    { to: 'no address' },
    { to: EMAIL },
    { to: 'new@parity.example', createUser: true },
  ].map((input) => ({
    title: JSON.stringify(input),
    rest: (): Rest => ['POST', '/passcodes/email', input],
    gql: (): Gql => ({ mutation: 'sendEmailPasscode', input, read: (payload) => payload }),
  })),
  sendSmsPasscode: [{ to: '+41790000000' }, { to: '0' }, { to: PHONE }].map((input) => ({
    title: JSON.stringify(input),
    rest: (): Rest => ['POST', '/passcodes/sms', input],
    gql: (): Gql => ({ mutation: 'sendSmsPasscode', input, read: (payload) => payload }),
  })),
  authenticatePasscode: [
    { to: EMAIL, code: '' },
    { to: EMAIL, code: 'wrong' },
    { to: EMAIL, sessionExpirationMinutes: 5 },
  ].map((input) => ({
    title: JSON.stringify(input),
    rest: ({ code }): Rest => ['POST', '/passcodes/authenticate', { code, ...input }],
    gql: ({ code }): Gql => ({
      mutation: 'authenticatePasscode',
      input: { code, ...input },
      read: (payload) => payload,
    }),
  })),
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
  listIdpUsers: ['them', nobody('user')].map((id) => ({
    title: id,
    rest: (world): Rest => ['GET', `/users/${id === 'them' ? world.userId : id}/idps`],
    gql: (world): Gql => nested('idpUsers', 'IdpUser', 'idpUsers')(id === 'them' ? world.userId : id),
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
      query: `query($id: ID!, $idpId: ID!) { result: idpUser(userId: $id, idpId: $idpId) ${node('IdpUser')} }`,
      variables: { id: userId, idpId },
      read: (data) => data.result,
    }),
  })),
  linkIdpUser: [
    ...[
      { idpId: 'real', proof: async () => ({}) },
      { idpId: 'real', proof: async () => ({ idToken: 'no token' }) },
      {
        idpId: 'real',
        proof: async ({ upstream }: World) => ({ code: 'used', redirectUri: upstream.redirectUri }),
      },
      { idpId: 'real', proof: ({ upstream }: World) => upstream.codeFor('upstream-ada') },
    ].map(({ idpId, proof }) => ({
      title: String(proof),
      rest: async (world: World): Promise<Rest> => [
        'PUT',
        `/users/${world.userId}/idps/${idpId}`,
        await proof(world),
      ],
      gql: async (world: World): Promise<Gql> => ({
        mutation: 'linkIdpUser',
        input: { userId: world.userId, idpId, ...(await proof(world)) },
      }),
    })),
  ],
  unlinkIdpUser: ['other', 'acme'].map((idpId) => ({
    title: idpId,
    rest: ({ userId }): Rest => ['DELETE', `/users/${userId}/idps/${idpId}`],
    gql: ({ userId }): Gql => ({ mutation: 'unlinkIdpUser', input: { userId, idpId }, read: done }),
  })),
  createCredentialEnrollmentToken: [{ send: false }, { send: true }].map((input) => ({
    title: JSON.stringify(input),
    rest: ({ userId }): Rest => ['POST', `/users/${userId}/credentials/enrollment-tokens`, input],
    gql: ({ userId }): Gql => ({
      mutation: 'createCredentialEnrollmentToken',
      input: { userId, type: 'PUBLIC_KEY', ...input },
      read: (payload) => payload,
    }),
  })),
  listUserCredentials: ['them', nobody('user')].map((id) => ({
    title: id,
    rest: (world): Rest => ['GET', `/users/${id === 'them' ? world.userId : id}/credentials`],
    gql: (world): Gql =>
      nested('credentials', 'Credential', 'credentials')(id === 'them' ? world.userId : id),
  })),
  getCredential: ['it', nobody('cred')].map((id) => ({
    title: id,
    rest: (world): Rest => ['GET', `/credentials/${id === 'it' ? world.credentialId : id}`],
    gql: (world): Gql => ({
      ...one('credential', 'Credential', 'ID'),
      variables: { id: id === 'it' ? world.credentialId : id },
    }),
  })),
  revokeCredential: ['nobody', 'theirs'].map((whose) => ({
    title: whose,
    rest: ({ credentialId }): Rest => [
      'DELETE',
      `/credentials/${whose === 'theirs' ? credentialId : nobody('cred')}`,
    ],
    gql: ({ credentialId }): Gql => ({
      mutation: 'revokeCredential',
      input: { credentialId: whose === 'theirs' ? credentialId : nobody('cred') },
      read: done,
    }),
  })),
  createClient: [
    { name: '', callbacks: ['javascript:x'], scopes: ['nonsense'] },
    { name: 'Web', ...NEW_CLIENT },
  ].map(({ name, ...fields }) => ({
    title: name || 'faulty',
    rest: (): Rest => ['POST', '/clients', { name, type: 'login', appType: 'web', ...fields }],
    gql: (): Gql => ({
      mutation: 'createClient',
      input: { name, type: 'LOGIN', appType: 'WEB', fields },
      read: ({ client, secret }) => ({ ...client, secret }),
    }),
  })),
  listClients: [{}, { page: 0, pageSize: 1 }, { pageSize: 1001 }].map((page) => ({
    title: JSON.stringify(page),
    rest: (): Rest => ['GET', `/clients?${new URLSearchParams(page as Record<string, string>)}`],
    gql: (): Gql => clients(page),
  })),
  getClient: ['it', nobody('client')].map((id) => ({
    title: id,
    rest: (world): Rest => ['GET', `/clients/${id === 'it' ? world.clientId : id}`],
    gql: (world): Gql => ({
      ...one('client', 'Client', 'ID'),
      variables: { id: id === 'it' ? world.clientId : id },
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
    gql: ({ clientId }): Gql => ({ mutation: 'updateClient', input: { clientId, fields } }),
  })),
  deleteClient: [
    {
      title: 'of nobody',
      rest: () => ['DELETE', `/clients/${nobody('client')}`],
      gql: () => ({ mutation: 'deleteClient', input: { clientId: nobody('client') }, read: done }),
    },
    {
      title: 'for ever',
      rest: ({ clientId }) => ['DELETE', `/clients/${clientId}`],
      gql: ({ clientId }) => ({ mutation: 'deleteClient', input: { clientId }, read: done }),
    },
  ],
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
  revokeRegistrationToken: ['nobody', 'it', 'it'].map((which) => ({
    title: which,
    rest: ({ registrationTokenId }): Rest => [
      'DELETE',
      `/clients/registration-tokens/${which === 'it' ? registrationTokenId : nobody('regtoken')}`,
    ],
    gql: ({ registrationTokenId }): Gql => ({
      mutation: 'revokeRegistrationToken',
      input: { registrationTokenId: which === 'it' ? registrationTokenId : nobody('regtoken') },
      read: done,
    }),
  })),
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

  // What admin frontends need beside the table.
  getIdentityProvider: ['acme', 'nowhere'].map((id) => ({
    title: id,
    rest: (): Rest => ['GET', `/idps/${id}`],
    gql: (): Gql => ({ ...one('identityProvider', 'IdentityProvider', 'ID'), variables: { id } }),
  })),
  updateIdentityProvider: [
    { issuer: 'javascript:x' },
    { name: 'Acme', clientSecret: 'hush', scopes: '' },
  ].map((fields) => ({
    title: Object.keys(fields).join(', '),
    rest: (): Rest => ['PATCH', '/idps/acme', fields],
    gql: (): Gql => ({ mutation: 'updateIdentityProvider', input: { idpId: 'acme', ...fields } }),
  })),
  deleteIdentityProvider: ['nowhere', 'acme'].map((idpId) => ({
    title: idpId,
    rest: (): Rest => ['DELETE', `/idps/${idpId}`],
    gql: (): Gql => ({ mutation: 'deleteIdentityProvider', input: { idpId }, read: done }),
  })),
  rotateClientSecret: [{ overlapSeconds: -1 }, { overlapSeconds: 60 }].map((input) => ({
    title: JSON.stringify(input),
    rest: ({ clientId }): Rest => ['POST', `/clients/${clientId}/secret`, input],
    gql: ({ clientId }): Gql => ({
      mutation: 'rotateClientSecret',
      input: { clientId, ...input },
      read: ({ client, ...told }) => ({ ...client, ...told }),
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
        query: `{ result: signingKeys ${node('SigningKey')} }`,
        read: ({ result }: Any) => ({ keys: result }),
      }),
    },
  ],
  revokeSession: ['nobody', 'theirs'].map((whose) => ({
    title: whose,
    rest: ({ sessionId }): Rest => [
      'DELETE',
      `/sessions/${whose === 'theirs' ? sessionId : nobody('session')}`,
    ],
    gql: ({ sessionId }): Gql => ({
      mutation: 'revokeSession',
      input: { sessionId: whose === 'theirs' ? sessionId : nobody('session') },
      read: done,
    }),
  })),
  revokeUserSessions: ['nobody', 'theirs'].map((whose) => ({
    title: whose,
    rest: ({ userId }): Rest => ['DELETE', `/users/${whose === 'theirs' ? userId : nobody('user')}/sessions`],
    gql: ({ userId }): Gql => ({
      mutation: 'revokeUserSessions',
      input: { userId: whose === 'theirs' ? userId : nobody('user') },
      read: done,
    }),
  })),
  listUserConsents: ['them', nobody('user')].map((id) => ({
    title: id,
    rest: (world): Rest => ['GET', `/users/${id === 'them' ? world.userId : id}/consents`],
    gql: (world): Gql => nested('consents', 'Consent', 'consents')(id === 'them' ? world.userId : id),
  })),
  revokeUserConsent: [
    { userId: nobody('user') },
    { clientId: nobody('client') },
    {}, // theirs
    {}, // which is gone now
  ].map((other) => ({
    title: JSON.stringify(other),
    rest: ({ userId, clientId }): Rest => {
      const ids = { userId, clientId, ...other }
      return ['DELETE', `/users/${ids.userId}/consents/${ids.clientId}`]
    },
    gql: ({ userId, clientId }): Gql => ({
      mutation: 'revokeUserConsent',
      input: { userId, clientId, ...other },
      read: done,
    }),
  })),
  setUserRoles: [['support', 'auditor'], []].map((roles) => ({
    title: roles.join(', ') || 'none',
    rest: ({ userId }): Rest => ['PUT', `/users/${userId}/roles`, { roles }],
    gql: ({ userId }): Gql => ({
      mutation: 'setUserRoles',
      input: { userId, roles: roles.map((role) => role.toUpperCase()) },
      read: ({ user }) => ({ roles: user.roles.map((role: string) => role.toLowerCase()) }),
    }),
  })),
  listSessions: [{ userId: 'them' }, { userId: 'them', clientId: 'x' }, {}].map((filter) => ({
    title: JSON.stringify(filter),
    rest: ({ userId }): Rest => [
      'GET',
      `/sessions?${new URLSearchParams({ ...filter, ...(filter.userId && { userId }) } as Record<string, string>)}`,
    ],
    gql: ({ userId }): Gql => ({
      query: `query($filter: SessionFilter) { result: sessions(filter: $filter) { page pageSize totalSize nodes ${node('Session')} } }`,
      variables: { filter: { ...filter, ...(filter.userId && { userId }) } },
      read: ({ result: { nodes, ...envelope } }: Any) => ({ ...envelope, sessions: nodes }),
    }),
  })),
}
