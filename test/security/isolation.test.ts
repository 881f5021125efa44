import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  getNamedType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createClient } from '../../src/clients/clients.ts'
import { newId } from '../../src/crypto.ts'
import { platformCtx, SCOPE_NAMES, type Scope } from '../../src/ctx.ts'
import { dbFor, inTransaction, sql } from '../../src/db.ts'
import { listInbox } from '../../src/delivery/inbox.ts'
import { Prisma } from '../../src/generated/prisma/client.ts'
import { buildSchema } from '../../src/graphql/schema.ts'
import type { RuleExtensions } from '../../src/graphql/scoped.ts'
import { createIdentityProvider } from '../../src/idps/idps.ts'
import { addIdpUser } from '../../src/idps/link-idp-user.ts'
import { apiAudienceOf } from '../../src/oidc/keys/keys.ts'
import { issueAccessToken } from '../../src/oidc/token/access-tokens.ts'
import { createRegistrationToken } from '../../src/registration/registration-tokens.ts'
import { restRoutes } from '../../src/rest/rest.ts'
import { endSession, startSession } from '../../src/sessions/sessions.ts'
import { setUserRoles } from '../../src/users/roles.ts'
import { createUser, lockUser } from '../../src/users/users.ts'
import { ctxFor, newTenant, ownTokenFor, TENANT_SCOPES, tokenFor } from '../support/actors.ts'
import { type Answer, type GraphqlBody, startApp, type TestApp } from '../support/app.ts'
import { openEventStream } from '../support/streams.ts'

/** A tenant with one of everything that has an id. */
type World = {
  tenant: string
  token: string
  userId: string
  sessionId: string
  sessionToken: string
  clientId: string
  credentialId: string
  /** Chosen ones: another in each world. */
  idpId: string
  idpUserId: string
  registrationTokenId: string
  email: string
  phoneNumber: string
}

let app: TestApp
let ours: World
let theirs: World
/** Of an operator, for the other tenant only. */
let narrowed: string
/** A person of ours without any role, who calls about themselves. */
let personToken: string
/** Administrators of ours who could do everything, until one was locked and the session of the other ended. */
let lockedToken: string
let endedToken: string
/** The same person, whose token may change what is theirs. */
let accountToken: string

let worlds = 0
async function newWorld(): Promise<World> {
  const tenant = await newTenant()
  const ctx = await ctxFor(tenant)
  const email = `ada@${tenant}.example`
  worlds += 1
  const phoneNumber = `+4179111220${worlds}`
  const user = await createUser(ctx, { email, emailVerified: true, phoneNumber, phoneNumberVerified: true })
  const { client } = await createClient(platformCtx(tenant), { name: 'App', appType: 'web', type: 'login' })
  const { session, token: sessionToken } = await inTransaction((tx) =>
    startSession(tx, ctx, {
      userId: user.id,
      kind: 'api',
      expiresAt: new Date(Date.now() + 3_600_000),
      refreshable: true,
      amr: ['otp'],
    }),
  )
  const token = await tokenFor(tenant)
  const credentialId = newId('cred')
  await dbFor(tenant).credential.create({
    data: { tenantId: tenant, id: credentialId, userId: user.id, externalId: credentialId },
  })
  await dbFor(tenant).consent.create({
    data: { tenantId: tenant, userId: user.id, clientId: client.id, scopes: ['openid'] },
  })
  const idpId = `up-${worlds}`
  await createIdentityProvider(ctx, { id: idpId, type: 'google', name: 'Upstream' })
  const { id: idpUserId } = await addIdpUser(ctx, user.id, idpId, { externalId: 'ada' })
  const { registrationToken } = await createRegistrationToken(ctx, { note: 'Partner' })
  return {
    tenant,
    token,
    registrationTokenId: registrationToken.id,
    credentialId,
    idpId,
    idpUserId,
    userId: user.id,
    sessionId: session.id,
    sessionToken,
    clientId: client.id,
    email,
    phoneNumber,
  }
}

beforeAll(async () => {
  app = await startApp()
  ours = await newWorld()
  theirs = await newWorld()
  const { client: operator } = await createClient(platformCtx('system'), {
    name: 'Operator',
    appType: 'machine',
    type: 'login',
    scopes: SCOPE_NAMES,
    allTenants: true,
  })
  narrowed = await issueAccessToken('system', {
    subject: operator.id,
    clientId: operator.id,
    scopes: SCOPE_NAMES,
    audience: [apiAudienceOf(theirs.tenant)],
    lifetimeSeconds: 600,
  })
  personToken = await issueAccessToken(ours.tenant, {
    subject: ours.userId,
    clientId: ours.clientId,
    scopes: SCOPE_NAMES,
    audience: [apiAudienceOf(ours.tenant)],
    lifetimeSeconds: 600,
    sessionId: ours.sessionId,
  })
  accountToken = await ownTokenFor(ours.tenant, ours.userId, ours.clientId)
  lockedToken = await tokenUntil(({ userId }) => lockUser(platformCtx(ours.tenant), userId))
  endedToken = await tokenUntil(({ sessionId }) => endSession(platformCtx(ours.tenant), sessionId, 'logout'))
})
afterAll(() => app.close())

/** The token of a new administrator of ours, which is seen to work; `end` is what happens to them afterwards. */
async function tokenUntil(end: (ids: { userId: string; sessionId: string }) => Promise<unknown>) {
  const { tenant } = ours
  const { userId, sessionId } = await newPersonOf(tenant)
  await setUserRoles(platformCtx(tenant), userId, { roles: ['admin'] })
  const { client } = await createClient(platformCtx(tenant), {
    name: 'Console',
    appType: 'single-page',
    type: 'login',
    scopes: TENANT_SCOPES,
  })
  const token = await issueAccessToken(tenant, {
    subject: userId,
    clientId: client.id,
    scopes: [...TENANT_SCOPES, 'account'],
    audience: [apiAudienceOf(tenant)],
    lifetimeSeconds: 600,
    sessionId,
  })
  expect((await app.rest(tenant, token, 'GET', `/users/${userId}`)).status).toBe(200)
  await end({ userId, sessionId })
  return token
}

/** What the database holds of a tenant, table by table: one statement. */
const CONTENTS = Object.keys(Prisma.ModelName)
  .map(
    (
      table,
    ) => `SELECT '${table}' AS "table", md5(COALESCE(string_agg(t::text, '|' ORDER BY t::text), '')) AS "hash"
      FROM "${table}" t WHERE "tenantId" = $1`,
  )
  .join(' UNION ALL ')

async function contentsOf(tenant: string): Promise<Record<string, string>> {
  const rows = await sql<{ table: string; hash: string }>(CONTENTS, [tenant])
  return Object.fromEntries(rows.map(({ table, hash }) => [table, hash]))
}

const without = (scopes: readonly Scope[]) => TENANT_SCOPES.filter((scope) => !scopes.includes(scope))
const NOBODY = {
  userId: 'user_01m7xeb1sbendby702xerkqv3p',
  sessionId: 'session_01m7xeb1sbendby702xerkqv3p',
  clientId: 'client_01m7xeb1sbendby702xerkqv3p',
  credentialId: 'cred_01m7xeb1sbendby702xerkqv3p',
  idpId: 'nobody',
  registrationTokenId: 'regtoken_01m7xeb1sbendby702xerkqv3p',
}
type Ids = Pick<
  World,
  'userId' | 'sessionId' | 'clientId' | 'credentialId' | 'idpId' | 'registrationTokenId'
> &
  Partial<World>

describe('security 48, 64: every REST route', () => {
  const name = ({ method, path }: { method: string; path: string }) => `${method} ${path}`
  const routes = restRoutes.map((route) => [name(route), route] as const)
  const pathWith = (path: string, ids: Ids) =>
    path.replace(/:(\w+)/g, (_, param: string) =>
      param === 'slug' ? theirs.tenant : String((ids as Record<string, unknown>)[param] ?? 'missing'),
    )
  const queryOf = (path: string) =>
    path.endsWith('by-email')
      ? `?email=${theirs.email}-x`
      : path.endsWith('by-phone-number')
        ? '?phoneNumber=%2B41791112299'
        : ''
  /** What must be right before an id is looked at. */
  const BODIES: Record<string, object> = {
    addIdpUser: { externalId: 'x' },
    linkIdpUser: { idToken: 'x' },
    setUserRoles: { roles: [] },
  }
  const bodyOf = ({ method, operationId }: { method: string; operationId: string }) =>
    method === 'GET' || method === 'DELETE' ? undefined : (BODIES[operationId] ?? {})
  const call = (token: string | null, route: (typeof restRoutes)[number], ids: Ids = ours) =>
    app.rest(ours.tenant, token, route.method, pathWith(route.path, ids) + queryOf(route.path), bodyOf(route))

  test.each(routes)(
    '%s: 401 without a token, with one of another tenant or of an operator of another, of a locked caller, of an ended session',
    async (_name, route) => {
      const before = await contentsOf(ours.tenant)
      for (const token of [null, theirs.token, narrowed, lockedToken, endedToken, 'garbage'])
        expect(await call(token, route)).toMatchObject({ status: 401, body: { code: 'UNAUTHENTICATED' } })
      expect(await contentsOf(ours.tenant)).toEqual(before)
    },
  )

  test.each(routes)(
    '%s: 403 with every scope but its own, and for a person about themselves',
    async (_name, route) => {
      const before = await contentsOf(ours.tenant)
      for (const token of [await tokenFor(ours.tenant, without([route.scope])), personToken])
        expect(await call(token, route)).toMatchObject({
          status: 403,
          body: { code: 'FORBIDDEN', message: expect.stringContaining(route.scope) },
        })
      expect(await contentsOf(ours.tenant)).toEqual(before)
    },
  )

  test.each(routes.filter(([, { path }]) => path.includes(':')))(
    "%s: another tenant's id is an id of nobody",
    async (_name, route) => {
      const before = await contentsOf(theirs.tenant)
      const foreign = await call(ours.token, route, theirs)
      const unknown = await call(ours.token, route, NOBODY)
      const neutral = ({ status, body }: Answer) => ({ status, body: { ...body, requestId: '' } })
      expect(neutral(foreign)).toEqual(neutral(unknown))
      expect(foreign.status).toBe(route.scope.startsWith('tenants:') ? 403 : 404)
      expect(await contentsOf(theirs.tenant)).toEqual(before)
    },
  )

  test('secrets and addresses of another tenant are worth nothing in bodies and queries', async () => {
    const before = await contentsOf(theirs.tenant)
    const post = (path: string, body: object) => app.rest(ours.tenant, ours.token, 'POST', path, body)
    expect((await post('/sessions/authenticate', { sessionToken: theirs.sessionToken })).status).toBe(401)
    expect((await post('/passcodes/email', { to: theirs.email })).status).toBe(404)
    await app.rest(theirs.tenant, theirs.token, 'POST', '/passcodes/email', { to: theirs.email })
    const code = /\b\d{6}\b/.exec(listInbox(theirs.email)[0]?.body ?? '')?.[0]
    expect(code).toBeDefined()
    expect((await post('/passcodes/authenticate', { to: theirs.email, code })).status).toBe(401)
    expect(
      (await app.rest(ours.tenant, ours.token, 'GET', `/users/by-email?email=${theirs.email}`)).status,
    ).toBe(404)
    const now = await contentsOf(theirs.tenant)
    // The code of their own call is all that is new.
    expect({ ...now, Passcode: '', Event: '' }).toEqual({ ...before, Passcode: '', Event: '' })
  })
})

const schema = buildSchema()
const roots = {
  query: schema.getQueryType(),
  mutation: schema.getMutationType(),
  subscription: schema.getSubscriptionType(),
}
type Root = keyof typeof roots
const fields = Object.entries(roots).flatMap(([root, type]) =>
  Object.values(type?.getFields() ?? {}).map(
    (field) => [`${root} ${field.name}`, root as Root, field] as const,
  ),
)
const ruleOf = (field: GraphQLField<unknown, unknown>) =>
  (field.extensions as Partial<RuleExtensions>).rule ?? {}

/** A value that fits, with `ids` wherever something is named. */
function valueFor(name: string, type: GraphQLInputType, ids: Ids): string {
  if (isNonNullType(type)) return valueFor(name, type.ofType, ids)
  if (isListType(type)) return `[${valueFor(name, type.ofType, ids)}]`
  if (isInputObjectType(type))
    return `{ ${Object.values(type.getFields())
      .filter((field) => isNonNullType(field.type) || /Id$|^idToken$/.test(field.name))
      .map((field) => `${field.name}: ${valueFor(field.name, field.type, ids)}`)
      .join(', ')} }`
  if (isEnumType(type)) return type.getValues()[0]?.name ?? ''
  if (name === 'id' || name === 'ids') return JSON.stringify(ids.userId)
  if (name === 'to' || name === 'email') return JSON.stringify(ids.email ?? 'nobody@nowhere.example')
  if (name === 'phoneNumber') return JSON.stringify(ids.phoneNumber ?? '+41791112299')
  if (name === 'slug') return JSON.stringify(theirs.tenant)
  const known = (ids as Record<string, unknown>)[name]
  if (known !== undefined) return JSON.stringify(known)
  return { Int: '1', Boolean: 'true', JSONObject: '{}' }[type.name] ?? '"000000"'
}

function documentOf(root: Root, field: GraphQLField<unknown, unknown>, ids: Ids): string {
  const wanted = ({ name, type }: GraphQLArgument) => isNonNullType(type) || /Id$|^id$/.test(name)
  const args = field.args.filter(wanted).map(({ name, type }) => {
    const kind = field.name === 'identityProvider' ? 'idp' : field.name
    const nodeId = (ids as Record<string, unknown>)[`${kind}Id`] ?? ids.userId
    return `${name}: ${name === 'id' ? JSON.stringify(nodeId) : valueFor(name, type, ids)}`
  })
  const selection = isCompositeType(getNamedType(field.type)) ? ' { __typename }' : ''
  return `${root} { result: ${field.name}${args.length > 0 ? `(${args.join(', ')})` : ''}${selection} }`
}

/** Mutations of the caller's own account. */
const OWN = fields.filter(([, , field]) => ruleOf(field).account)

/** Another person of a tenant, with what a person can have; the ids only. */
async function newPersonOf(tenant: string) {
  const ctx = await ctxFor(tenant)
  const { id: userId } = await createUser(ctx, {})
  const { session } = await inTransaction((tx) =>
    startSession(tx, ctx, {
      userId,
      kind: 'api',
      expiresAt: new Date(Date.now() + 3_600_000),
      refreshable: true,
      amr: ['otp'],
    }),
  )
  const credentialId = newId('cred')
  await dbFor(tenant).credential.create({
    data: { tenantId: tenant, id: credentialId, userId, externalId: credentialId },
  })
  return { userId, sessionId: session.id, credentialId }
}

/** The first answer: of a subscription the first event, or 'open' where it starts without one. */
async function firstAnswer(
  token: string | null,
  root: Root,
  document: string,
): Promise<GraphqlBody | 'open' | number> {
  if (root !== 'subscription') {
    const { status, body } = await app.gql(ours.tenant, token, document)
    return status === 401 ? 401 : body
  }
  if (token === null) {
    const { body } = await app.gql(ours.tenant, null, document)
    return body
  }
  const stream = await openEventStream(`${app.origin}/${ours.tenant}/graphql`, token, document)
  if (stream.status === 401) return 401
  const silence = new Promise<'open'>((resolve) => setTimeout(resolve, 200, 'open'))
  const first = await Promise.race([stream.next(), silence])
  stream.close()
  return first === 'open' ? 'open' : (first?.data ?? 'open')
}

const codeIn = (answer: GraphqlBody | 'open' | number) =>
  typeof answer === 'object' ? answer.errors?.[0]?.extensions.code : answer

describe('security 48, 64: every GraphQL root field', () => {
  test.each(fields)(
    '%s: UNAUTHENTICATED without a token, with one of another tenant, of a locked caller, of an ended session',
    async (_name, root, field) => {
      const before = await contentsOf(ours.tenant)
      const document = documentOf(root, field, ours)
      expect(codeIn(await firstAnswer(null, root, document))).toBe('UNAUTHENTICATED')
      for (const token of [theirs.token, lockedToken, endedToken])
        expect(await firstAnswer(token, root, document)).toBe(401)
      expect(await contentsOf(ours.tenant)).toEqual(before)
    },
  )

  test.each(fields.filter(([, , field]) => field.name !== 'viewer'))(
    '%s: FORBIDDEN with every scope but its own',
    async (_name, root, field) => {
      const before = await contentsOf(ours.tenant)
      const needed = ruleOf(field).scopes ?? (['users:read'] as const)
      const answer = await firstAnswer(
        await tokenFor(ours.tenant, without(needed)),
        root,
        documentOf(root, field, ours),
      )
      expect(codeIn(answer)).toBe('FORBIDDEN')
      expect(await contentsOf(ours.tenant)).toEqual(before)
    },
  )

  test.each(fields.filter(([, , field]) => field.args.length > 0))(
    "%s: another tenant's ids are ids of nobody",
    async (_name, root, field) => {
      const before = await contentsOf(theirs.tenant)
      const answers = []
      for (const ids of [theirs, NOBODY])
        answers.push(JSON.stringify(await firstAnswer(ours.token, root, documentOf(root, field, ids))))
      const neutral = (text = '') =>
        text.replace(/"requestId":"[^"]+"/g, '').replace(/"locations":\[[^\]]*\]/g, '')
      // What is no id and what is a value of its own (an address to create) may differ; nothing of theirs may show.
      if (!/^(create|update|send|authenticate)/.test(field.name))
        expect(neutral(answers[0])).toBe(neutral(answers[1]))
      const { userId, sessionId, clientId, credentialId, idpUserId, registrationTokenId, email } = theirs
      for (const secret of [userId, sessionId, clientId, credentialId, idpUserId, registrationTokenId, email])
        expect(answers[0]).not.toContain(secret)
      const now = await contentsOf(theirs.tenant)
      expect(now).toEqual(before)
    },
  )

  test.each(OWN.filter(([, , field]) => documentOf('mutation', field, NOBODY).includes('Id')))(
    "%s: what is another tenant's, or another person's, is nobody's to the person who calls",
    async (_name, root, field) => {
      const other = await newPersonOf(ours.tenant)
      const before = [await contentsOf(theirs.tenant), await contentsOf(ours.tenant)]
      for (const ids of [theirs, { ...NOBODY, ...other }, NOBODY])
        expect(await firstAnswer(accountToken, root, documentOf(root, field, ids))).toMatchObject({
          data: { result: { __typename: 'NotFoundError' } },
        })
      expect([await contentsOf(theirs.tenant), await contentsOf(ours.tenant)]).toEqual(before)
    },
  )

  test('ids of each kind are found by node at home only', async () => {
    const { userId, sessionId, clientId, credentialId, idpId, idpUserId } = theirs
    for (const id of [userId, sessionId, clientId, credentialId, idpId, idpUserId, theirs.tenant]) {
      const query = `{ node(id: "${id}") { id } nodes(ids: ["${id}"]) { id } }`
      expect((await app.gql(theirs.tenant, theirs.token, query)).body.data).toEqual({
        node: { id },
        nodes: [{ id }],
      })
      expect((await app.gql(ours.tenant, ours.token, query)).body).toEqual({
        data: { node: null, nodes: [null] },
      })
    }
  })
})

describe('security 14, 15: nobody writes what is not theirs to write', () => {
  const MUTATIONS = fields.filter(([, root]) => root === 'mutation')

  test.each(MUTATIONS)(
    '%s: a person’s own token without a role does nothing to themselves',
    async (_name, root, field) => {
      const before = await contentsOf(ours.tenant)
      expect(codeIn(await firstAnswer(personToken, root, documentOf(root, field, ours)))).toBe('FORBIDDEN')
      expect(await contentsOf(ours.tenant)).toEqual(before)
    },
  )

  /** Whatever is written through the surfaces. A new input field has to be argued for here. */
  const WRITABLE = {
    UserFieldsInput:
      'name givenName familyName middleName nickname preferredUsername profile picture website email emailVerified gender birthdate zoneinfo locale phoneNumber phoneNumberVerified locked address userMetadata appMetadata',
    ClientFieldsInput:
      'description scopes themeColor logoUrl callbacks allowedOrigins webOrigins allowedLogoutUrls initiateLoginUrl tokenExpiryTime requireConsent jwks backchannelLogoutUrl idTokenSigningAlg userInfoSigningAlg requirePushedRequests resources',
    CreateClientInput: 'type name appType fields',
    TenantSettingsInput:
      'friendlyName logoUrl defaultAudience loginUrl supportUrl dynamicRegistration clientIdMetadataDocuments',
    UpdateTenantSettingsInput:
      'expectedUpdatedAt friendlyName logoUrl defaultAudience loginUrl supportUrl dynamicRegistration clientIdMetadataDocuments',
    CreateRegistrationTokenInput: 'note uses expiresInSeconds',
    RevokeRegistrationTokenInput: 'registrationTokenId',
    RotateSigningKeysInput: 'activateInSeconds retireAtOnce',
    SetUserRolesInput: 'userId roles',
    CreateCredentialEnrollmentTokenInput: 'userId type send',
    RevokeCredentialInput: 'credentialId',
    CreateIdentityProviderInput:
      'id type name clientId clientSecret scopes issuer authorizationEndpoint tokenEndpoint userInfoEndpoint jwksUri idTokenSigningAlg idTokenSigningKey platformTeamId platformKid',
    UpdateIdentityProviderInput:
      'idpId expectedUpdatedAt name clientId clientSecret scopes issuer authorizationEndpoint tokenEndpoint userInfoEndpoint jwksUri idTokenSigningAlg idTokenSigningKey platformTeamId platformKid',
    AddIdpUserInput: 'userId idpId externalId metadata',
    LinkIdpUserInput: 'userId idpId idToken accessToken code redirectUri codeVerifier',
    UnlinkIdpUserInput: 'userId idpId',
    UpdateViewerInput: 'expectedUpdatedAt fields',
    ViewerFieldsInput:
      'name givenName familyName middleName nickname preferredUsername profile picture website gender birthdate zoneinfo locale address userMetadata',
    RequestEmailChangeInput: 'email',
    ConfirmEmailChangeInput: 'email code',
    RequestPhoneNumberChangeInput: 'phoneNumber',
    ConfirmPhoneNumberChangeInput: 'phoneNumber code',
    RemoveViewerPhoneNumberInput: 'phoneNumber',
    RevokeViewerSessionInput: 'sessionId',
    RevokeViewerSessionsInput: 'includeCurrent',
    RevokeViewerCredentialInput: 'credentialId',
    UnlinkViewerIdpUserInput: 'idpId',
    LinkViewerIdpUserInput: 'idpId idToken code redirectUri codeVerifier',
    CreateViewerEnrollmentTokenInput: 'type',
    RevokeViewerConsentInput: 'clientId',
    RevokeUserConsentInput: 'userId clientId',
  }
  test.each(Object.entries(WRITABLE))('%s takes these fields and no others', (name, expected) => {
    const type = schema.getType(name)
    const names = isInputObjectType(type) ? Object.keys(type.getFields()) : []
    expect(names.sort()).toEqual(expected.split(' ').sort())
  })

  const columnsBut = (model: 'User' | 'Client' | 'Tenant', allowed: string[]) =>
    Object.keys(Prisma[`${model}ScalarFieldEnum`]).filter((column) => !allowed.includes(column))

  test('no other column of a user, client or tenant can be written over REST, by any spelling', async () => {
    const user = WRITABLE.UserFieldsInput.split(' ')
    const client = [...WRITABLE.ClientFieldsInput.split(' '), ...WRITABLE.CreateClientInput.split(' ')]
    const tenant = WRITABLE.UpdateTenantSettingsInput.split(' ')
    const before = await contentsOf(ours.tenant)
    const attempts: [string, string, object, string][] = []
    const more = [
      '__proto__',
      'constructor',
      'sessions',
      'tenant',
      'Tenant',
      'set',
      'connect',
      'roles.0',
      'isAdmin',
    ]
    for (const column of [...columnsBut('User', user), ...more]) {
      attempts.push(['POST', '/users', { [column]: 'x' }, column])
      attempts.push(['PATCH', `/users/${ours.userId}`, { [column]: 'x' }, column])
      attempts.push(['PATCH', `/users/${ours.userId}`, { address: { [column]: 'x' } }, column])
    }
    for (const column of [...columnsBut('Client', client), ...more, 'secret', 'secretHash']) {
      const required = { name: 'x', appType: 'web', type: 'login' }
      // allTenants is a field of the service, for the platform alone.
      attempts.push([
        'POST',
        '/clients',
        { ...required, [column]: column === 'allTenants' ? true : 'x' },
        column,
      ])
    }
    for (const column of [...columnsBut('Tenant', tenant), ...more])
      attempts.push(['PATCH', '/settings', { [column]: 'x' }, column])
    // Parsed, not written: a literal's __proto__ would set the prototype instead.
    for (const path of ['/users', '/clients', '/settings'])
      attempts.push([
        path === '/settings' ? 'PATCH' : 'POST',
        path,
        JSON.parse('{"__proto__":{"locked":true}}'),
        '__proto__',
      ])
    for (const [method, path, body, column] of attempts) {
      const response = await app.fetch(`/${ours.tenant}/api/v1${path}`, {
        method,
        headers: { 'content-type': 'application/json', authorization: `Bearer ${ours.token}` },
        body: JSON.stringify(body),
      })
      expect([method, path, column, [400, 403].includes(response.status)]).toEqual([
        method,
        path,
        column,
        true,
      ])
    }
    expect(await contentsOf(ours.tenant)).toEqual(before)
  })

  test('a passcode is in no answer to whoever has it sent', async () => {
    const slug = await newTenant()
    const token = await tokenFor(slug)
    const answers = [
      await app.rest(slug, token, 'POST', '/passcodes/email', { to: 'new@example.com', createUser: true }),
      await app.rest(slug, token, 'POST', '/passcodes/sms', { to: '+41791110000', createUser: true }),
      await app.gql(
        slug,
        token,
        '{ events(first: 100) { nodes { type ... on AuditEvent { detail subjectIds changedFields } } } }',
      ),
      await app.gql(slug, token, '{ users { nodes { id email userMetadata appMetadata } } }'),
    ]
    const codes = [...listInbox('new@example.com'), ...listInbox('+41791110000')].map(
      ({ body }) => /\b\d{6}\b/.exec(body)?.[0] ?? '',
    )
    expect(codes).toHaveLength(2)
    const said = JSON.stringify(answers.map(({ body }) => body)).replace(
      /"[^"]*_[0-9a-z]{26}"|\d{4}-[\dT:.-]+Z/g,
      '',
    )
    for (const code of codes) expect(said).not.toMatch(new RegExp(`(?<!\\d)${code}(?!\\d)`))
  })
})

describe('security 50, 54: lists', () => {
  test('count what can be seen, and nothing of other tenants', async () => {
    const COUNTS = '{ users { totalSize nodes { id } } clients { totalSize nodes { id } } }'
    for (const { tenant, token } of [ours, theirs]) {
      const { users, clients } = (await app.gql(tenant, token, COUNTS)).body.data
      expect(users.totalSize).toBe(users.nodes.length)
      expect(clients.totalSize).toBe(clients.nodes.length)
      for (const path of ['users', 'clients', 'idps']) {
        const { body } = await app.rest(tenant, token, 'GET', `/${path}`)
        expect(body.totalSize).toBe((body[path] as object[]).length)
      }
    }
    const usersOf = async ({ tenant, token }: World) =>
      (await app.gql(tenant, token, COUNTS)).body.data.users.totalSize
    const before = [await usersOf(ours), await usersOf(theirs)]
    for (let i = 0; i < 3; i++) await createUser(await ctxFor(theirs.tenant), {})
    expect([await usersOf(ours), await usersOf(theirs)]).toEqual([before[0], before[1] + 3])
    const sessions = await app.rest(ours.tenant, ours.token, 'GET', `/users/${ours.userId}/sessions`)
    expect(sessions.body.totalSize).toBe((sessions.body.sessions as object[]).length)
    expect((await app.rest(ours.tenant, ours.token, 'GET', '/tenants')).status).toBe(403)
    expect((await app.gql(ours.tenant, ours.token, '{ tenants { totalSize } }')).body.data).toEqual({
      tenants: null,
    })
  })

  test('are filtered and sorted by nothing that they do not show', async () => {
    const SECRET = /secret|hash|token|code(?!s)|key|password|metadata/i
    for (const [name, , field] of fields.filter(([, root]) => root === 'query'))
      for (const { name: argument, type } of field.args) {
        const inner = getNamedType(type)
        const names = [argument, ...(isInputObjectType(inner) ? Object.keys(inner.getFields()) : [])]
        // appMetadata needs the scope that reading it does (test/users-search.test.ts).
        expect([name, names.filter((one) => SECRET.test(one) && one !== 'appMetadata')]).toEqual([name, []])
      }
    for (const route of restRoutes.filter(({ method, path }) => method === 'GET' && !path.includes(':')))
      for (const name of [
        'filter',
        'filter[secretHash]',
        'sort',
        'orderBy',
        'secret',
        'tokenHash',
        'emailKey',
        'where',
        'select',
      ])
        expect(
          await app.rest(ours.tenant, ours.token, 'GET', `${route.path}?${encodeURIComponent(name)}=x`),
        ).toMatchObject(route.scope.startsWith('tenants:') ? { status: 403 } : { status: 400 })
  })
})
