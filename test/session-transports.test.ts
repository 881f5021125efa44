import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { newId } from '../src/crypto.ts'
import type { Ctx } from '../src/ctx.ts'
import { inTransaction } from '../src/db.ts'
import { listInbox } from '../src/delivery/inbox.ts'
import { startSession } from '../src/sessions/sessions.ts'
import { createUser } from '../src/users/users.ts'
import { ctxFor, newTenant, tokenFor } from './support/actors.ts'
import { startApp, type TestApp } from './support/app.ts'
import { recordStatements } from './support/statements.ts'

const isPostgres = inject('database').kind === 'postgres'
let app: TestApp
let ctx: Ctx
let token: string
let userId: string

beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.close())
beforeEach(async () => {
  ctx = await ctxFor(await newTenant())
  token = await tokenFor(ctx.tenant)
  userId = (await createUser(ctx, { name: 'Ada' })).id
})

const rest = (method: string, path: string, body?: unknown, as = token) =>
  app.rest(ctx.tenant, as, method, path, body)
const gql = (query: string, variables?: object, as = token) => app.gql(ctx.tenant, as, query, variables)
const start = (of = userId) =>
  inTransaction((sql) =>
    startSession(sql, ctx, {
      userId: of,
      kind: 'api',
      expiresAt: new Date(Date.now() + 3_600_000),
      refreshable: true,
      amr: [],
      seenFrom: { ip: '192.0.2.1', userAgent: 'Phone' },
    }),
  )
const codeFor = (to: string): string => /\b\d{6}\b/.exec(listInbox(to)[0]?.body ?? '')?.[0] ?? 'none'
const NOT_FOUND = (what: string) => ({
  message: `No such ${what}.`,
  requestId: expect.any(String),
  fields: [],
  code: 'NOT_FOUND',
})
const bodyOf = (id: string) => ({
  id,
  userId,
  clientId: null,
  lastSeenAt: expect.any(String),
  lastSeenIp: '192.0.2.1',
  lastSeenLocation: null,
  userAgent: 'Phone',
  expiresAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
  updatedAt: expect.any(String),
  createdAt: expect.any(String),
})

describe('sessions over REST', () => {
  it("lists, gets and revokes a user's sessions", async () => {
    const [one, two] = [(await start()).session.id, (await start()).session.id]
    expect(await rest('GET', `/users/${userId}/sessions?pageSize=1`)).toMatchObject({
      status: 200,
      body: { page: 0, pageSize: 1, totalSize: 2, sessions: [bodyOf(one)] },
    })
    const got = await rest('GET', `/sessions/${two}`)
    expect(got.status).toBe(200)
    expect(got.body).toEqual(bodyOf(two))
    const revoked = await rest('DELETE', `/sessions/${one}`)
    expect(revoked.status).toBe(200)
    expect(revoked.body).toEqual({
      message: 'The session is revoked.',
      requestId: revoked.headers.get('x-request-id'),
      fields: [],
    })
    for (const method of ['GET', 'DELETE']) {
      const gone = await rest(method, `/sessions/${one}`)
      expect(gone.status).toBe(404)
      expect(gone.body).toEqual(NOT_FOUND('session'))
    }
    const all = await rest('DELETE', `/users/${userId}/sessions`)
    expect(all).toMatchObject({
      status: 200,
      body: { message: 'The sessions of the user are revoked.', fields: [] },
    })
    expect((await rest('GET', `/users/${userId}/sessions`)).body).toEqual({
      page: 0,
      pageSize: 50,
      totalSize: 0,
      sessions: [],
    })
    for (const method of ['GET', 'DELETE'])
      expect((await rest(method, `/users/${newId('user')}/sessions`)).body).toEqual(NOT_FOUND('user'))
  })

  it('authenticates a token, and answers a wrong one the same whatever is wrong', async () => {
    const { session, token: sessionToken } = await start()
    const answer = await rest('POST', '/sessions/authenticate', { sessionToken, rotateSessionToken: true })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.body).toEqual({
      session: bodyOf(session.id),
      sessionToken: expect.stringMatching(/^[\w-]{43}$/),
      user: expect.objectContaining({ id: userId, name: 'Ada' }),
    })
    const wrong = await rest('POST', '/sessions/authenticate', { sessionToken: `${sessionToken}x` })
    expect(wrong.status).toBe(401)
    expect(wrong.headers.get('www-authenticate')).toBe('Credential')
    expect(wrong.body).toEqual({
      message: 'The session token is not valid.',
      requestId: wrong.headers.get('x-request-id'),
      fields: [],
      code: 'INVALID_CREDENTIAL',
    })
    const bad = await rest('POST', '/sessions/authenticate', { sessionExpirationMinutes: 1.5 })
    expect(bad).toMatchObject({
      status: 400,
      body: {
        fields: [
          { field: 'sessionToken', description: 'is required' },
          { field: 'sessionExpirationMinutes', description: 'must be a whole number from 0 to 129600' },
        ],
      },
    })
  })

  it('needs the scope of each operation', async () => {
    const reader = await tokenFor(ctx.tenant, ['sessions:read'])
    const { session } = await start()
    expect((await rest('GET', `/sessions/${session.id}`, undefined, reader)).status).toBe(200)
    for (const [method, path, scope] of [
      ['DELETE', `/sessions/${session.id}`, 'sessions:write'],
      ['DELETE', `/users/${userId}/sessions`, 'sessions:write'],
      ['POST', '/sessions/authenticate', 'sessions:write'],
      ['POST', '/passcodes/email', 'passcodes:write'],
      ['POST', '/passcodes/sms', 'passcodes:write'],
      ['POST', '/passcodes/authenticate', 'passcodes:write'],
    ] as const)
      expect(await rest(method, path, method === 'POST' ? {} : undefined, reader)).toMatchObject({
        status: 403,
        body: { message: expect.stringContaining(scope) },
      })
  })
})

describe('passcodes over REST', () => {
  it('sends, authenticates and starts a session', async () => {
    const to = `ada@${ctx.tenant}.example`
    const sent = await rest('POST', '/passcodes/email', { to, createUser: true })
    expect(sent.status).toBe(200)
    expect(sent.body).toEqual({ to, userId: expect.stringMatching(/^user_/), userCreated: true })
    expect(JSON.stringify(sent.body)).not.toContain(codeFor(to))
    const again = await rest('POST', '/passcodes/email', { to })
    expect(again.status).toBe(429)
    expect(Number(again.headers.get('retry-after'))).toBeGreaterThan(25)
    const wrong = await rest('POST', '/passcodes/authenticate', { to, code: 'wrong' })
    expect(wrong.status).toBe(401)
    expect(wrong.body).toEqual({
      message: 'The code is wrong or has expired.',
      requestId: expect.any(String),
      fields: [],
      code: 'INVALID_CREDENTIAL',
    })
    const answer = await rest('POST', '/passcodes/authenticate', {
      to,
      code: codeFor(to),
      sessionExpirationMinutes: 5,
    })
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      session: expect.objectContaining({ userId: sent.body?.userId }),
      sessionToken: expect.any(String),
      user: expect.objectContaining({ email: to, emailVerified: true }),
    })
    const unknown = await rest('POST', '/passcodes/sms', { to: '+41791234567' })
    expect(unknown.status).toBe(404)
    expect(unknown.body).toEqual(NOT_FOUND('user'))
  })
})

describe('sessions over GraphQL', () => {
  const SESSION =
    'id userId clientId lastSeenAt lastSeenIp lastSeenLocation userAgent expiresAt updatedAt createdAt'

  it('answers one session, also as a node, with its user', async () => {
    const { session } = await start()
    const query = `query ($id: ID!) { session(id: $id) { ${SESSION} user { id name } client { id } } node(id: $id) { id __typename } }`
    expect((await gql(query, { id: session.id })).body).toEqual({
      data: {
        session: { ...bodyOf(session.id), user: { id: userId, name: 'Ada' }, client: null },
        node: { id: session.id, __typename: 'Session' },
      },
    })
    await rest('DELETE', `/sessions/${session.id}`)
    expect((await gql(query, { id: session.id })).body).toEqual({ data: { session: null, node: null } })
    expect((await gql(query, { id: userId })).body.errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT')
  })

  it('pages through the sessions of a user by cursor', async () => {
    const ids: string[] = []
    for (let i = 0; i < 3; i++) ids.push((await start()).session.id)
    const query = `query ($id: ID!, $after: String) { user(id: $id) {
      sessions(first: 2, after: $after) { nodes { id userAgent } edges { node { id } cursor } totalSize pageInfo { hasNextPage endCursor } } } }`
    const first = (await gql(query, { id: userId })).body.data.user.sessions
    expect(first).toMatchObject({
      nodes: ids.slice(0, 2).map((id) => ({ id, userAgent: 'Phone' })),
      edges: ids.slice(0, 2).map((id) => ({ node: { id } })),
      totalSize: 3,
      pageInfo: { hasNextPage: true, endCursor: expect.any(String) },
    })
    const second = await gql(query, { id: userId, after: first.pageInfo.endCursor })
    expect(second.body.data.user.sessions.nodes).toEqual([{ id: ids[2], userAgent: 'Phone' }])
  })

  it.runIf(isPostgres)(
    'reads 50 users with their sessions in one statement that limits each list',
    async () => {
      for (let i = 0; i < 50; i++) await start((await createUser(ctx, {})).id)
      let nodes: { sessions: { nodes: object[] } }[] = []
      const query =
        '{ users(pageSize: 50) { nodes { id sessions(first: 5) { nodes { id userAgent lastSeenAt } } } } }'
      await gql('{ viewer { scopes } }') // warms the caches of tenant, client and keys
      const statements = await recordStatements(async () => {
        nodes = (await gql(query)).body.data.users.nodes
      })
      expect(nodes).toHaveLength(50)
      expect(nodes.filter(({ sessions }) => sessions.nodes.length === 1)).toHaveLength(49)
      const reads = statements.filter((text) => text.includes('"Session"'))
      expect(reads).toHaveLength(1)
      expect(statements).toHaveLength(1)
      expect(reads[0]).toMatch(/LATERAL/)
      expect(reads[0]?.match(/LIMIT/g)).toHaveLength(2)
    },
  )

  it('authenticates a session token, with failures as data', async () => {
    const { session, token: sessionToken } = await start()
    const query = `mutation ($input: AuthenticateSessionInput!) { authenticateSession(input: $input) { __typename
      ... on AuthenticateSessionPayload { session { id } sessionToken user { name } }
      ... on UserError { code message } ... on ValidationError { fields { field } } } }`
    const ask = async (input: object) => (await gql(query, { input })).body.data.authenticateSession
    expect(await ask({ sessionToken, sessionExpirationMinutes: 9 })).toEqual({
      __typename: 'AuthenticateSessionPayload',
      session: { id: session.id },
      sessionToken: null,
      user: { name: 'Ada' },
    })
    expect(await ask({ sessionToken: 'x' })).toEqual({
      __typename: 'AuthenticationError',
      code: 'INVALID_CREDENTIAL',
      message: 'The session token is not valid.',
    })
    expect(await ask({ sessionToken: '', metadata: { ipAddress: '1' } })).toMatchObject({
      __typename: 'ValidationError',
      fields: [{ field: 'sessionToken' }, { field: 'metadata.ipAddress' }],
    })
  })

  it('revokes one session, and all of a user', async () => {
    const [one, two] = [(await start()).session.id, (await start()).session.id]
    const revoke = `mutation ($id: ID!) { revokeSession(input: { sessionId: $id }) { __typename ... on RevokeSessionPayload { revokedSessionId } } }`
    expect((await gql(revoke, { id: one })).body.data.revokeSession).toEqual({
      __typename: 'RevokeSessionPayload',
      revokedSessionId: one,
    })
    expect((await gql(revoke, { id: one })).body.data.revokeSession).toEqual({ __typename: 'NotFoundError' })
    expect((await gql(revoke, { id: 'nonsense' })).body.data.revokeSession).toEqual({
      __typename: 'ValidationError',
    })
    const all = `mutation ($id: ID!) { revokeUserSessions(input: { userId: $id }) { __typename ... on RevokeUserSessionsPayload { revokedSessionIds } } }`
    expect((await gql(all, { id: userId })).body.data.revokeUserSessions).toEqual({
      __typename: 'RevokeUserSessionsPayload',
      revokedSessionIds: [two],
    })
    expect((await gql(all, { id: newId('user') })).body.data.revokeUserSessions).toEqual({
      __typename: 'NotFoundError',
    })
  })

  it('hides sessions from callers without sessions:read, and users from those without users:read', async () => {
    await start()
    const users = await tokenFor(ctx.tenant, ['users:read'])
    const query = '{ users { nodes { id sessions { nodes { id } } } } }'
    const hidden = (await gql(query, {}, users)).body
    expect(hidden.data.users.nodes).toEqual([{ id: userId, sessions: null }])
    expect(hidden.errors?.[0]).toMatchObject({
      message: 'Requires scope sessions:read.',
      extensions: { code: 'FORBIDDEN' },
    })
    const { session } = await start()
    const sessions = await tokenFor(ctx.tenant, ['sessions:read'])
    const foreign = (
      await gql('query ($id: ID!) { session(id: $id) { id user { id } } }', { id: session.id }, sessions)
    ).body
    expect(foreign.data).toEqual({ session: { id: session.id, user: null } })
  })
})

describe('passcodes over GraphQL', () => {
  it('sends and authenticates one, with failures as data', async () => {
    const to = `grace@${ctx.tenant}.example`
    const send = `mutation ($input: SendPasscodeInput!) { sendEmailPasscode(input: $input) { __typename
      ... on SendPasscodePayload { to userId userCreated user { email } } ... on RateLimitedError { retryAfterSeconds } } }`
    const sendIt = async (input: object) => (await gql(send, { input })).body.data.sendEmailPasscode
    expect(await sendIt({ to })).toEqual({ __typename: 'NotFoundError' })
    const sent = await sendIt({ to, createUser: true, metadata: { userAgent: 'App' } })
    expect(sent).toEqual({
      __typename: 'SendPasscodePayload',
      to,
      userId: expect.any(String),
      userCreated: true,
      user: { email: to },
    })
    expect(await sendIt({ to })).toEqual({
      __typename: 'RateLimitedError',
      retryAfterSeconds: expect.any(Number),
    })
    const check = `mutation ($input: AuthenticatePasscodeInput!) { authenticatePasscode(input: $input) { __typename
      ... on AuthenticateSessionPayload { session { userId } sessionToken user { emailVerified } } } }`
    const checkIt = async (input: object) => (await gql(check, { input })).body.data.authenticatePasscode
    expect(await checkIt({ to, code: 'wrong' })).toEqual({ __typename: 'AuthenticationError' })
    expect(await checkIt({ to, code: codeFor(to), sessionExpirationMinutes: 5 })).toEqual({
      __typename: 'AuthenticateSessionPayload',
      session: { userId: sent.userId },
      sessionToken: expect.any(String),
      user: { emailVerified: true },
    })
  })

  it('checks at most one credential in an operation: aliases and fragments buy no guesses', async () => {
    const to = `linus@${ctx.tenant}.example`
    await rest('POST', '/passcodes/email', { to, createUser: true })
    const guess = (alias: string, code: string) =>
      `${alias}: authenticatePasscode(input: { to: "${to}", code: "${code}" }) { __typename }`
    for (const query of [
      `mutation { ${guess('a', '000000')} ${guess('b', codeFor(to))} }`,
      `mutation { ...M ${guess('a', '000000')} } fragment M on Mutation { ${guess('b', codeFor(to))} }`,
    ]) {
      const { body } = await gql(query)
      expect(body.data).toBeUndefined()
      expect(body.errors?.length).toBeGreaterThan(0)
    }
    const alone = await gql(`mutation { ${guess('a', codeFor(to))} }`)
    expect(alone.body.data.a.__typename).toBe('AuthenticateSessionPayload')
  })
})
