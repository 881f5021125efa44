import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { rotateClientSecret } from '../src/clients/client-changes.ts'
import { createClient } from '../src/clients/clients.ts'
import { platformCtx, SCOPE_NAMES, type Scope, SYSTEM_TENANT } from '../src/ctx.ts'
import { dbFor, inTransaction } from '../src/db.ts'
import { listInbox } from '../src/delivery/inbox.ts'
import { buildSchema } from '../src/graphql/schema.ts'
import { idempotencyKeyOf } from '../src/idempotency.ts'
import { apiAudienceOf } from '../src/oidc/keys/keys.ts'
import { issueAccessToken } from '../src/oidc/token/access-tokens.ts'
import { restRoutes } from '../src/rest/rest.ts'
import { createUser } from '../src/users/users.ts'
import { ctxFor, newTenant, TENANT_SCOPES, tokenFor } from './support/actors.ts'
import { startApp, type TestApp } from './support/app.ts'
import { logOf } from './support/events.ts'
import { countStatements } from './support/statements.ts'

let app: TestApp
let tenant: string
let token: string
beforeAll(async () => {
  app = await startApp()
  tenant = await newTenant()
  token = await tokenFor(tenant)
})
afterAll(() => app.close())

type Sent = { key?: string; bearer?: string; of?: string }

async function send(path: string, body: unknown, { key, bearer = token, of = tenant }: Sent = {}) {
  const response = await app.fetch(`/${of}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${bearer}`,
      'content-type': 'application/json',
      ...(key !== undefined && { 'idempotency-key': key }),
    },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) }
}
const post = (path: string, body: unknown, sent?: Sent) => send(`/api/v1${path}`, body, sent)
const gql = (query: string, variables: object, sent?: Sent) => send('/graphql', { query, variables }, sent)
const isReplayed = ({ headers }: { headers: Headers }) => headers.get('idempotency-replayed') === 'true'
const emailOf = () => `${randomUUID()}@example.com`

/** Another machine client of a tenant, and a token of it. */
async function otherCaller(of: string, scopes: readonly Scope[], audience = of, allTenants = false) {
  const { client } = await createClient(platformCtx(of), {
    name: 'Other',
    appType: 'machine',
    type: 'login',
    scopes: [...scopes],
    allTenants,
  })
  return issueAccessToken(of, {
    subject: client.id,
    clientId: client.id,
    scopes,
    audience: [apiAudienceOf(audience)],
    lifetimeSeconds: 600,
  })
}

describe('the header Idempotency-Key', () => {
  it.each([
    ['abc', 'abc'],
    ['"abc"', 'abc'],
    [String.raw`"a\"b\\c"`, String.raw`a"b\c`],
    ['8e03978e-40d5-43dd-bc93-6894a57f9324', '8e03978e-40d5-43dd-bc93-6894a57f9324'],
    ['x'.repeat(255), 'x'.repeat(255)],
  ])('%s is a key', (header, key) => {
    expect(idempotencyKeyOf(header)).toBe(key)
  })

  it.each([
    '',
    '""',
    '"',
    '"a',
    'a b',
    '"a b"',
    'a, a',
    'ä',
    'x'.repeat(256),
    '"a"; p=1',
    '"a", "a"',
    '"\\a"',
  ])('%j is none', (header) => {
    expect(() => idempotencyKeyOf(header)).toThrow(
      expect.objectContaining({
        status: 400,
        fields: [{ field: 'Idempotency-Key', description: expect.any(String) }],
      }),
    )
  })

  it('that is no key is refused by name, on both surfaces', async () => {
    const key = 'x'.repeat(300)
    const fault = {
      field: 'Idempotency-Key',
      description: 'must be 1 to 255 visible ASCII characters, given once',
    }
    const rest = await post('/users', {}, { key })
    expect([rest.status, rest.body.fields]).toEqual([400, [fault]])
    const graphql = await gql('mutation { createUser(input: { fields: {} }) { __typename } }', {}, { key })
    expect(graphql.body.errors[0].extensions).toMatchObject({ code: 'BAD_USER_INPUT', fields: [fault] })
  })
})

describe('security 61: JSON that is nested deep', () => {
  const nested = `${'['.repeat(45_000)}${']'.repeat(45_000)}`
  it.each([
    ['/api/v1/users', nested],
    ['/api/v1/users', `{"userMetadata":{"a":${nested}}}`],
    [
      '/graphql',
      `{"query":"mutation ($v: JSONObject) { createUser(input: {fields: {userMetadata: $v}}) { __typename } }","variables":{"v":{"a":${nested}}}}`,
    ],
  ])('is refused under a key on %s', async (path, body) => {
    const response = await app.fetch(`/${tenant}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'idempotency-key': randomUUID(),
      },
      body,
    })
    expect(await response.text()).toContain('"BAD_USER_INPUT"')
  })
})

describe('a creation over REST under a key', () => {
  it('is done once; its repetition gets the same answer under a request id of its own', async () => {
    const [key, email] = [randomUUID(), emailOf()]
    const told = (await logOf(tenant)).length
    const first = await post('/users', { email }, { key })
    const again = await post('/users', { email }, { key: `"${key}"` })
    expect([first.status, isReplayed(first), again.status, isReplayed(again)]).toEqual([
      201,
      false,
      201,
      true,
    ])
    expect(again.text).toBe(first.text)
    expect(again.headers.get('location')).toBe(first.headers.get('location'))
    expect(again.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'))
    expect((await logOf(tenant)).slice(told).map(({ type }) => type)).toEqual(['user.created'])
  })

  it('answers 409 for another body, another route and a token of other scopes, and creates nothing', async () => {
    const key = randomUUID()
    await post('/users', { name: 'First' }, { key })
    const told = (await logOf(tenant)).length
    const refusals = [
      await post('/users', { name: 'Second' }, { key }),
      await post('/clients', { name: 'First' }, { key }),
      // It could read less of the answer.
      await post('/users', { name: 'First' }, { key, bearer: await tokenFor(tenant, ['users:write']) }),
    ]
    for (const { status, body } of refusals)
      expect([status, body]).toEqual([
        409,
        {
          message: 'The Idempotency-Key cannot be used for this.',
          requestId: expect.any(String),
          fields: [
            {
              field: 'Idempotency-Key',
              description: 'was used for another request, or with a token of other scopes',
            },
          ],
          code: 'CONFLICT',
        },
      ])
    expect(await logOf(tenant)).toHaveLength(told)
  })

  it('is done once by twenty parallel calls; each gets that answer, or hears that it is under way', async () => {
    const [key, email] = [randomUUID(), emailOf()]
    const told = (await logOf(tenant)).length
    const answers = await Promise.all(Array.from({ length: 20 }, () => post('/users', { email }, { key })))
    const bodies = new Set(answers.filter(({ status }) => status === 201).map(({ text }) => text))
    expect(bodies.size).toBe(1)
    for (const { status, headers, body } of answers.filter((answer) => answer.status !== 201)) {
      expect([status, headers.get('retry-after')]).toEqual([409, '1'])
      expect(body.fields).toEqual([{ field: 'Idempotency-Key', description: 'is being answered; try again' }])
    }
    expect(answers.filter((answer) => answer.status === 201 && !isReplayed(answer))).toHaveLength(1)
    expect(await logOf(tenant)).toHaveLength(told + 1)
    expect([...bodies]).toEqual([(await post('/users', { email }, { key })).text])
  })

  it('keeps refusals of the input, and takes the key back from what may pass next time', async () => {
    const email = emailOf()
    await post('/users', { email })
    const taken = { key: randomUUID() }
    const refused = await post('/users', { email }, taken)
    expect(refused.status).toBe(409)
    const again = await post('/users', { email }, taken)
    expect([again.status, again.text, isReplayed(again)]).toEqual([409, refused.text, true])
    // Refused before it began: no scope.
    const late = { key: randomUUID() }
    const reader = await tokenFor(tenant, ['users:read'])
    expect((await post('/users', { name: 'x' }, { ...late, bearer: reader })).status).toBe(403)
    expect((await post('/users', { name: 'x' }, late)).status).toBe(201)
  })

  // It holds a row on a connection of its own, of which the embedded database has none.
  it.skipIf(!process.env.DATABASE_URL)('gives the key back after a fault of ours', async () => {
    const [key, email] = [randomUUID(), emailOf()]
    const user = await createUser(await ctxFor(tenant), { email })
    await inTransaction(async (sql) => {
      await sql('SELECT 1 FROM "User" WHERE "tenantId" = $1 AND "id" = $2 FOR UPDATE', [tenant, user.id])
      expect((await post('/passcodes/email', { to: email }, { key })).status).toBe(503)
    })
    const sent = await post('/passcodes/email', { to: email }, { key })
    expect([sent.status, isReplayed(sent)]).toEqual([200, false])
  })

  it('belongs to its caller: another client, tenant or operator has keys of their own', async () => {
    const key = randomUUID()
    const theirs = await newTenant()
    const operator = await otherCaller(SYSTEM_TENANT, SCOPE_NAMES, tenant, true)
    const answers = [
      await post('/users', { name: 'Shared' }, { key }),
      await post('/users', { name: 'Shared' }, { key, bearer: await otherCaller(tenant, TENANT_SCOPES) }),
      await post('/users', { name: 'Shared' }, { key, bearer: operator }),
      await post('/users', { name: 'Shared' }, { key, bearer: await tokenFor(theirs), of: theirs }),
    ]
    expect(answers.map((answer) => [answer.status, isReplayed(answer)])).toEqual(
      answers.map(() => [201, false]),
    )
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(answers.length)
  })

  it('repeats a secret that is told once, which the database holds encrypted only', async () => {
    const key = randomUUID()
    const input = { name: 'App', appType: 'web', type: 'login' }
    const first = await post('/clients', input, { key })
    const again = await post('/clients', input, { key })
    expect(again.body.secret).toBe(first.body.secret)
    const rows = await dbFor(tenant).idempotencyKey.findMany({ where: { tenantId: tenant } })
    expect(rows.length).toBeGreaterThan(0)
    const stored = JSON.stringify(rows)
    for (const secret of [first.body.secret, first.body.id, key]) expect(stored).not.toContain(secret)
    // A row that is moved to another key cannot be read.
    const row = rows.toSorted((a, b) => a.createdAt.getTime() - b.createdAt.getTime()).at(-1)
    const other = randomUUID()
    await post('/clients', input, { key: other })
    const [newest] = await dbFor(tenant).idempotencyKey.findMany({
      where: { tenantId: tenant },
      orderBy: { createdAt: 'desc' },
      take: 1,
    })
    await dbFor(tenant).idempotencyKey.updateMany({
      where: { tenantId: tenant, keyHash: newest?.keyHash },
      data: { answer: row?.answer },
    })
    expect((await post('/clients', input, { key: other })).status).toBe(500)
  })

  it('rotates a secret once, so that a lost answer does not cost the secret before', async () => {
    const ctx = await ctxFor(tenant)
    const { client } = await createClient(ctx, { name: 'App', appType: 'web', type: 'login' })
    const path = `/clients/${client.id}/secret`
    const key = randomUUID()
    const first = await post(path, {}, { key })
    const again = await post(path, {}, { key })
    expect([again.body.secret, isReplayed(again)]).toEqual([first.body.secret, true])
    expect(await rotateClientSecret(ctx, client.id, {})).toMatchObject({ secret: expect.any(String) })
  })

  it('sends one message', async () => {
    const email = emailOf()
    await post('/users', { email })
    const key = randomUUID()
    const answers = [
      await post('/passcodes/email', { to: email }, { key }),
      await post('/passcodes/email', { to: email }, { key }),
    ]
    expect(answers.map((answer) => [answer.status, isReplayed(answer)])).toEqual([
      [200, false],
      [200, true],
    ])
    expect(listInbox(email)).toHaveLength(1)
  })

  it('is ignored where nothing is created', async () => {
    const user = await createUser(await ctxFor(tenant), { name: 'Ada' })
    for (const name of ['Ada Lovelace', 'Countess of Lovelace']) {
      const response = await app.fetch(`/${tenant}/api/v1/users/${user.id}`, {
        method: 'PATCH',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          'idempotency-key': 'one for both',
        },
        body: JSON.stringify({ name }),
      })
      expect([response.status, ((await response.json()) as { name: string }).name]).toEqual([200, name])
    }
  })

  it('works again a minute after the process died over it, and a day after the answer', async () => {
    const [key, db] = [randomUUID(), dbFor(tenant)]
    const first = await post('/users', { name: 'Twice' }, { key })
    const [row] = await db.idempotencyKey.findMany({
      where: { tenantId: tenant },
      orderBy: { createdAt: 'desc' },
      take: 1,
    })
    const where = { tenantId: tenant, keyHash: row?.keyHash }
    expect((row?.expiresAt.getTime() ?? 0) - (row?.createdAt.getTime() ?? 0)).toBeGreaterThanOrEqual(
      86_400_000,
    )
    // As the process left it: claimed, without an answer.
    await db.idempotencyKey.updateMany({ where, data: { answer: null } })
    expect((await post('/users', { name: 'Twice' }, { key })).status).toBe(409)
    await db.idempotencyKey.updateMany({ where, data: { expiresAt: new Date(Date.now() - 1) } })
    const second = await post('/users', { name: 'Twice' }, { key })
    expect([second.status, isReplayed(second), second.body.id === first.body.id]).toEqual([201, false, false])
    expect((await post('/users', { name: 'Twice' }, { key })).text).toBe(second.text)
    await db.idempotencyKey.updateMany({ where, data: { expiresAt: new Date(Date.now() - 1) } })
    expect(isReplayed(await post('/users', { name: 'Other' }, { key }))).toBe(false)
  })

  it('costs two statements more, and none without the header', async () => {
    const least = async (sent: () => Sent) => {
      const counts = []
      for (let i = 0; i < 3; i++)
        counts.push(await countStatements(() => post('/users', { name: 'Counted' }, sent())))
      return Math.min(...counts)
    }
    await post('/users', { name: 'Warm' })
    expect(await least(() => ({}))).toBe(4)
    expect(await least(() => ({ key: randomUUID() }))).toBe(6)
    const key = randomUUID()
    await post('/users', { name: 'Counted' }, { key })
    expect(await least(() => ({ key }))).toBe(1)
  })
})

const CREATE = `mutation Create($email: String) { createUser(input: { fields: { email: $email } }) {
  __typename ... on UserPayload { user { id email } } ... on ConflictError { fields { field } } } }`

describe('a mutation under a key', () => {
  it('is done once; its repetition gets the same answer', async () => {
    const [key, email] = [randomUUID(), emailOf()]
    const first = await gql(CREATE, { email }, { key })
    const again = await gql(CREATE, { email }, { key })
    expect(first.body.data.createUser).toMatchObject({ __typename: 'UserPayload', user: { email } })
    expect([again.status, again.text, isReplayed(first), isReplayed(again)]).toEqual([
      200,
      first.text,
      false,
      true,
    ])
    const other = await gql(CREATE, { email: emailOf() }, { key })
    expect([other.status, other.body.errors[0].extensions, other.body.data]).toEqual([
      409,
      {
        code: 'CONFLICT',
        requestId: expect.any(String),
        fields: [
          {
            field: 'Idempotency-Key',
            description: 'was used for another request, or with a token of other scopes',
          },
        ],
      },
      undefined,
    ])
  })

  it('is done once by twenty parallel calls', async () => {
    const [key, email] = [randomUUID(), emailOf()]
    const told = (await logOf(tenant)).length
    const answers = await Promise.all(Array.from({ length: 20 }, () => gql(CREATE, { email }, { key })))
    expect(new Set(answers.filter(({ status }) => status === 200).map(({ text }) => text)).size).toBe(1)
    for (const { status, headers } of answers.filter((answer) => answer.status !== 200))
      expect([status, headers.get('retry-after')]).toEqual([409, '1'])
    expect(await logOf(tenant)).toHaveLength(told + 1)
  })

  it('of several creations is kept as a whole, errors of its fields included', async () => {
    const [key, email] = [randomUUID(), emailOf()]
    const document = `mutation ($email: String) {
      a: createUser(input: { fields: { email: $email } }) { ... on UserPayload { user { id } } }
      ...Second }
      fragment Second on Mutation { b: createUser(input: { fields: { email: $email } }) { __typename } }`
    // Who may only write gets an error beside the user that was created.
    const sent = { key, bearer: await tokenFor(tenant, ['users:write']) }
    const first = await gql(document, { email }, sent)
    expect(first.body).toMatchObject({
      errors: [{ path: ['a', 'user'], extensions: { code: 'FORBIDDEN' } }],
      data: { a: { user: null }, b: { __typename: 'ConflictError' } },
    })
    const again = await gql(document, { email }, sent)
    expect([again.status, again.text, isReplayed(again)]).toEqual([200, first.text, true])
  })

  it('gives its key back when nothing was created and it may fare better', async () => {
    const [key, email] = [randomUUID(), emailOf()]
    const reader = await tokenFor(tenant, ['users:read'])
    expect((await gql(CREATE, { email }, { key, bearer: reader })).body.errors[0].extensions.code).toBe(
      'FORBIDDEN',
    )
    expect((await gql(CREATE, { email }, { key })).body.data.createUser.__typename).toBe('UserPayload')
    const taken = randomUUID()
    const refused = await gql(CREATE, { email }, { key: taken })
    expect(refused.body.data.createUser).toEqual({
      __typename: 'ConflictError',
      fields: [{ field: 'email' }],
    })
    expect(isReplayed(await gql(CREATE, { email }, { key: taken }))).toBe(true)
  })

  it('must be of creations alone; what holds none ignores the header', async () => {
    const user = await createUser(await ctxFor(tenant), { name: 'Ada' })
    const mixed = `mutation ($userId: ID!) { createUser(input: { fields: {} }) { __typename }
      lockUser(input: { userId: $userId }) { __typename } }`
    const told = (await logOf(tenant)).length
    const refused = await gql(mixed, { userId: user.id }, { key: 'k' })
    expect(refused.body.errors[0].extensions).toMatchObject({
      code: 'BAD_USER_INPUT',
      fields: [{ field: 'Idempotency-Key', description: 'is for creations alone, which lockUser is not' }],
    })
    expect(await logOf(tenant)).toHaveLength(told)
    const lock = 'mutation ($userId: ID!) { lockUser(input: { userId: $userId }) { __typename } }'
    for (const key of ['k', 'not even a key'])
      expect((await gql(lock, { userId: user.id }, { key })).body.data.lockUser.__typename).toBe(
        'UserPayload',
      )
    expect((await gql('{ viewer { scopes } }', {}, { key: 'k' })).status).toBe(200)
  })

  it('and a request over REST never share an answer', async () => {
    const key = randomUUID()
    await post('/users', {}, { key })
    expect((await gql(CREATE, {}, { key })).status).toBe(409)
  })
})

describe('what may be repeated under a key', () => {
  it('is the same on both surfaces, and every creation', () => {
    const ofRest = restRoutes.filter(({ idempotent }) => idempotent).map(({ operationId }) => operationId)
    const ofGraphql = Object.values(buildSchema().getMutationType()?.getFields() ?? {})
      .filter(({ extensions }) => extensions.isCreation)
      .map(({ name }) => name)
    expect(ofRest.sort()).toEqual(ofGraphql.sort())
    const creating = restRoutes.filter(({ status }) => status === 201).map(({ operationId }) => operationId)
    expect(ofRest).toEqual(expect.arrayContaining(creating))
  })
})
