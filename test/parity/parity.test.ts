import { type GraphQLUnionType, getNamedType, isLeafType } from 'graphql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient } from '../src/clients/clients.ts'
import { newId } from '../src/crypto.ts'
import { type Ctx, platformCtx } from '../src/ctx.ts'
import { dbFor, inTransaction } from '../src/db.ts'
import { listInbox } from '../src/delivery/inbox.ts'
import { buildSchema } from '../src/graphql/schema.ts'
import { sendPasscode } from '../src/passcodes/send-passcode.ts'
import { startSession } from '../src/sessions/sessions.ts'
import { createUser } from '../src/users/users.ts'
import { ctxFor, newTenant, TENANT_SCOPES, tokenFor } from './support/actors.ts'
import { allFieldsOf, asRest, neutral, stateOf } from './support/parity.ts'
import { openSurfaces, type Surfaces } from './support/surfaces.ts'

// The operations of the specification's table, each driven through REST in one tenant and through GraphQL in a twin of it.
// What they answer, refuse and leave in the database must be the same.

let surfaces: Surfaces
beforeAll(async () => {
  surfaces = await openSurfaces()
})
afterAll(() => surfaces.close())

const schema = buildSchema()
const NOBODY = '01m7xeb1sbendby702xerkqv3p'
const EMAIL = 'ada@parity.example'
const PHONE = '+41791112233'

/** A tenant with one of everything; two of them are alike. */
type World = {
  tenant: string
  ctx: Ctx
  token: string
  userId: string
  sessionId: string
  sessionToken: string
  credentialId: string
  clientId: string
  idpId: string
  code: string
}

async function newWorld(): Promise<World> {
  const tenant = await newTenant()
  const ctx = await ctxFor(tenant)
  const user = await createUser(ctx, {
    name: 'Ada Lovelace',
    email: EMAIL,
    emailVerified: true,
    phoneNumber: PHONE,
    phoneNumberVerified: true,
    address: { locality: 'London' },
    appMetadata: { plan: 'pro' },
  })
  await createUser(ctx, { name: 'Bob', email: 'bob@parity.example' })
  const { client } = await createClient(platformCtx(tenant), { name: 'Shop', appType: 'web', type: 'login' })
  const { session, token: sessionToken } = await inTransaction((tx) =>
    startSession(tx, ctx, {
      userId: user.id,
      kind: 'api',
      expiresAt: new Date('2100-01-01T00:00:00Z'),
      refreshable: true,
      amr: ['otp'],
    }),
  )
  const db = dbFor(tenant)
  const own = { tenantId: tenant, userId: user.id }
  const credential = await db.credential.create({
    data: { ...own, id: newId('cred'), externalId: 'AAEC', publicKey: 'pQECAyYgASFY', deviceModel: 'Pixel' },
  })
  for (const id of ['acme', 'other'])
    await db.identityProvider.create({
      data: { tenantId: tenant, id, type: 'oidc', name: id, issuer: `https://${id}.example`, clientId: 'us' },
    })
  await db.idpUser.create({
    data: {
      ...own,
      id: newId('idpuser'),
      idpId: 'acme',
      issuer: 'https://acme.example',
      externalId: 'ada-1',
    },
  })
  await sendPasscode(ctx, 'email', { to: EMAIL })
  const code = /\b\d{6}\b/.exec(listInbox(EMAIL)[0]?.body ?? '')?.[0] ?? ''
  return {
    tenant,
    ctx,
    token: await tokenFor(tenant),
    userId: user.id,
    sessionId: session.id,
    sessionToken,
    credentialId: credential.id,
    clientId: client.id,
    idpId: 'acme',
    code,
  }
}

// biome-ignore lint/suspicious/noExplicitAny: the shape is what is being compared
type Any = any
type Rest = [method: string, path: string, body?: unknown]
/** A mutation by its input, or a query by its text; `read` makes REST's body of what it answers. */
type Gql =
  | { mutation: string; input: object; read?: (payload: Any) => unknown }
  | { query: string; variables?: object; read: (data: Any) => unknown }
type Call = { title: string; rest: (world: World) => Rest; gql: (world: World) => Gql }

const GONE = 'gone'
/** What either surface came to. */
type Outcome = { body: unknown } | { code: string; message?: string; fields?: unknown }

async function overRest({ tenant, token }: World, [method, path, body]: Rest): Promise<Outcome> {
  const answer = await surfaces.rest(tenant, token, method, path, body)
  // Of what is gone REST tells in the shape of an error, GraphQL by its id.
  if (answer.status < 400) return { body: method === 'DELETE' ? GONE : answer.body }
  const { code, message, fields } = answer.body
  return { code, message, fields }
}

/** The mutation with everything that its payload, or its errors, hold. */
function documentOf(name: string): string {
  const field = schema.getMutationType()?.getFields()[name]
  if (!field) throw new Error(`no mutation ${name}`)
  const members = (field.type as GraphQLUnionType).getTypes().map((type) => {
    const selections = Object.values(type.getFields()).map(({ name: member, type: of }) => {
      const named = getNamedType(of)
      return isLeafType(named) ? member : `${member} { __typename ${allFieldsOf(named.name)} }`
    })
    return `... on ${type.name} { ${selections.join(' ')} }`
  })
  return `mutation($input: ${field.args[0]?.type}) { result: ${name}(input: $input) { __typename ${members.join(' ')} } }`
}

/** Values as REST has them, objects by their __typename. */
function restValues(value: Any): Any {
  if (Array.isArray(value)) return value.map(restValues)
  if (value === null || typeof value !== 'object') return value
  const { __typename: type, ...members } = value
  const plain = Object.fromEntries(Object.entries(members).map(([key, member]) => [key, restValues(member)]))
  return type && !/(Payload|Connection|Error)$/.test(type) ? asRest(type, plain) : plain
}

async function overGraphql({ tenant, token }: World, call: Gql): Promise<Outcome> {
  const isMutation = 'mutation' in call
  const { body } = await surfaces.gql(
    tenant,
    token,
    isMutation ? documentOf(call.mutation) : call.query,
    isMutation ? { input: call.input } : call.variables,
  )
  const [error] = body.errors ?? []
  if (error) {
    const { code, fields = [] } = error.extensions
    return { code, message: error.message, fields }
  }
  const result = restValues(isMutation ? body.data.result : body.data)
  if (isMutation && 'code' in result) {
    const { code, message, fields = [] } = result
    return { code, message, fields }
  }
  const read = call.read ?? ((payload) => Object.values(payload)[0])
  const plain = read(result)
  // Nothing there is null in GraphQL, which has no status to say it by.
  return plain === null || plain === undefined ? { code: 'NOT_FOUND' } : { body: plain }
}

/** What REST says must be what GraphQL says; GraphQL may know more of it. */
function expectAlike(rest: Outcome, graphql: Outcome, restTenant: string, graphqlTenant: string): void {
  const [left, right] = [neutral(restTenant, rest), neutral(graphqlTenant, graphql)] as [Any, Any]
  if (left.code === 'NOT_FOUND' && right.code === 'NOT_FOUND') return
  if (!('body' in left) || !('body' in right)) expect(right).toEqual(left)
  else if (left.body === GONE) expect(right.body).toBe(GONE)
  else expect(right.body).toMatchObject(left.body)
}

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

/** Every operation of the table, with what it does well first at the end: faults leave everything as it was. */
const OPERATIONS: Record<string, Call[]> = {
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
  updateClient: [{ callbacks: ['https://*.example'] }, { name: 'Renamed', description: '' }].map(
    (fields) => ({
      title: Object.keys(fields).join(', '),
      rest: ({ clientId }): Rest => ['PATCH', `/clients/${clientId}`, fields],
      gql: ({ clientId }): Gql => ({ mutation: 'updateClient', input: { clientId, fields } }),
    }),
  ),
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
  updateTenantSettings: [
    { logoUrl: 'javascript:x', supportUrl: 'x' },
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
}

describe.each(Object.entries(OPERATIONS))('%s', (_name, calls) => {
  it('answers, refuses and leaves behind the same over REST and GraphQL', async () => {
    const [left, right] = [await newWorld(), await newWorld()]
    expect(await stateOf(right.tenant)).toEqual(await stateOf(left.tenant))
    for (const call of calls) {
      const rest = await overRest(left, call.rest(left))
      const graphql = await overGraphql(right, call.gql(right))
      expectAlike(rest, graphql, left.tenant, right.tenant)
      expect(await stateOf(right.tenant), call.title).toEqual(await stateOf(left.tenant))
    }
  })
})
void TENANT_SCOPES
void idps
void NEW_IDP
