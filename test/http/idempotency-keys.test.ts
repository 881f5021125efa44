import { randomUUID } from 'node:crypto'
import { describe, expect } from 'vitest'
import { parseIdempotencyKey } from '../../src/http/idempotency.ts'
import { buildSchema } from '../../src/server/graphql-schema.ts'
import { restRoutes } from '../../src/server/rest-routes.ts'
import { dbFor } from '../support/database.ts'
import { isReplayed, type SendOptions, test } from '../support/idempotency.ts'
import { leastStatements } from '../support/statements.ts'

describe('the header Idempotency-Key', () => {
  test.each([
    ['abc', 'abc'],
    ['"abc"', 'abc'],
    [String.raw`"a\"b\\c"`, String.raw`a"b\c`],
    ['8e03978e-40d5-43dd-bc93-6894a57f9324', '8e03978e-40d5-43dd-bc93-6894a57f9324'],
    ['x'.repeat(255), 'x'.repeat(255)],
  ])('%s is accepted', (header, key) => {
    expect(parseIdempotencyKey(header)).toBe(key)
  })

  test.each([
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
  ])('%j is rejected', (header) => {
    expect(() => parseIdempotencyKey(header)).toThrow(
      expect.objectContaining({
        status: 400,
        fields: [{ field: 'Idempotency-Key', description: expect.any(String) }],
      }),
    )
  })

  test('is rejected with its name on both surfaces when it is too long', async ({ post, postGraphql }) => {
    const key = 'x'.repeat(300)
    const issue = {
      field: 'Idempotency-Key',
      description: 'must be 1 to 255 visible ASCII characters, given once',
    }
    const rest = await post('/users', {}, { key })
    expect([rest.status, rest.body.fields]).toEqual([400, [issue]])
    const graphql = await postGraphql('mutation { createUser(input: {}) { __typename } }', {}, { key })
    expect(graphql.body.errors[0].extensions).toMatchObject({ code: 'BAD_USER_INPUT', fields: [issue] })
  })
})

describe('deeply nested JSON', () => {
  const nested = `${'['.repeat(45_000)}${']'.repeat(45_000)}`
  test.for<[path: string, code: string, body: string]>([
    ['/api/v1/users', 'BAD_USER_INPUT', nested],
    ['/api/v1/users', 'BAD_USER_INPUT', `{"userMetadata":{"a":${nested}}}`],
    [
      '/graphql',
      'QUERY_TOO_COMPLEX',
      `{"query":"mutation ($v: JSONObject) { createUser(input: {userMetadata: $v}) { __typename } }","variables":{"v":{"a":${nested}}}}`,
    ],
  ])('is rejected with an Idempotency-Key at %s with %s', async ([path, code, body], { send }) => {
    const { text } = await send(path, body, { key: randomUUID() })
    expect(text).toContain(`"${code}"`)
  })
})

describe('a stored Idempotency-Key', () => {
  test('repeats a client secret, which the database stores only encrypted', async ({ tenant, post }) => {
    const key = randomUUID()
    const input = { name: 'App', appType: 'web', type: 'login' }
    const first = await post('/clients', input, { key })
    const again = await post('/clients', input, { key })
    expect(again.body.secret).toBe(first.body.secret)
    const rows = await dbFor(tenant).idempotencyKey.findMany({ where: { tenantId: tenant } })
    expect(rows.length).toBeGreaterThan(0)
    const stored = JSON.stringify(rows)
    for (const secret of [first.body.secret, first.body.id, key]) expect(stored).not.toContain(secret)
    // An answer that is moved to another key cannot be decrypted.
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

  test('is released when it expires, with and without an answer', async ({ tenant, post }) => {
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
    // As after a crash of the process: claimed, without an answer.
    await db.idempotencyKey.updateMany({ where, data: { answer: null } })
    expect((await post('/users', { name: 'Twice' }, { key })).status).toBe(409)
    await db.idempotencyKey.updateMany({ where, data: { expiresAt: new Date(Date.now() - 1) } })
    const second = await post('/users', { name: 'Twice' }, { key })
    expect([second.status, isReplayed(second), second.body.id === first.body.id]).toEqual([201, false, false])
    expect((await post('/users', { name: 'Twice' }, { key })).text).toBe(second.text)
    await db.idempotencyKey.updateMany({ where, data: { expiresAt: new Date(Date.now() - 1) } })
    expect(isReplayed(await post('/users', { name: 'Other' }, { key }))).toBe(false)
  })

  test('takes two statements, and a repetition takes one', async ({ post }) => {
    const least = (options: () => SendOptions) =>
      leastStatements(() => post('/users', { name: 'Counted' }, options()))
    await post('/users', { name: 'Warm' })
    expect(await least(() => ({}))).toBe(4)
    expect(await least(() => ({ key: randomUUID() }))).toBe(6)
    const key = randomUUID()
    await post('/users', { name: 'Counted' }, { key })
    expect(await least(() => ({ key }))).toBe(1)
  })
})

describe('the operations that accept an Idempotency-Key', () => {
  test('are the same on both surfaces and include every creation', () => {
    const ofRest = restRoutes.filter(({ idempotent }) => idempotent).map(({ operationId }) => operationId)
    const ofGraphql = Object.values(buildSchema().getMutationType()?.getFields() ?? {})
      .filter(({ extensions }) => extensions.isCreation)
      .map(({ name }) => name)
    expect(ofRest.sort()).toEqual(ofGraphql.sort())
    const creating = restRoutes.filter(({ status }) => status === 201).map(({ operationId }) => operationId)
    expect(ofRest).toEqual(expect.arrayContaining(creating))
  })
})
