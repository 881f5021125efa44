import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operatorToken, type ServerProcess, startServer } from './support/process.ts'

const BASE_URL = 'https://id.example.com'
const usesPostgres = Boolean(process.env.DATABASE_URL)

let directory: string
let server: ServerProcess
let token: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'vestibule-request-ids-'))
  server = await startServer({
    BASE_URL,
    DATA_DIR: directory,
    ENCRYPTION_KEY: process.env.ENCRYPTION_KEY,
    LOG_LEVEL: 'info',
    ...(usesPostgres && { DATABASE_URL: process.env.DATABASE_URL, REDIS_URL: process.env.REDIS_URL }),
  })
  token = await operatorToken(server, BASE_URL, 'system', 'users:read users:write events:read')
}, 90_000)
afterAll(async () => {
  await server?.kill()
  await rm(directory, { recursive: true, force: true })
})

// biome-ignore lint/suspicious/noExplicitAny: what a test asks for decides the shape
type Body = any

async function call(method: string, path: string, body?: object, headers: Record<string, string> = {}) {
  const response = await fetch(`${server.origin}/system${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  return {
    status: response.status,
    id: response.headers.get('x-request-id'),
    body: (await response.json()) as Body,
  }
}
const from = (id: string) => ({ 'x-request-id': id })

describe('the id of a request', () => {
  it("is the caller's own in the answer, its errors and the log of events, over REST and GraphQL", async () => {
    const ids = Array.from({ length: 5 }, () => `job-${randomUUID()}`) as [
      string,
      string,
      string,
      string,
      string,
    ]
    const made = await call('POST', '/api/v1/users', { name: 'Ada' }, from(ids[0]))
    expect([made.status, made.id]).toEqual([201, ids[0]])
    const refused = await call('PATCH', `/api/v1/users/${made.body.id}`, { email: 'none' }, from(ids[1]))
    expect([refused.status, refused.id, refused.body.requestId]).toEqual([400, ids[1], ids[1]])
    const locked = await call(
      'POST',
      '/graphql',
      { query: `mutation { lockUser(input: { userId: "${made.body.id}" }) { __typename } }` },
      from(ids[2]),
    )
    expect([locked.id, locked.body.data.lockUser.__typename]).toEqual([ids[2], 'UserPayload'])
    const errors = await call(
      'POST',
      '/graphql',
      {
        query: `mutation { updateUser(input: { userId: "${made.body.id}", fields: { email: "none" } }) {
          ... on UserError { requestId } } tenants: deleteTenant(input: { slug: "none" }) { __typename } }`,
      },
      from(ids[3]),
    )
    expect([
      errors.id,
      errors.body.data.updateUser.requestId,
      errors.body.errors[0].extensions.requestId,
    ]).toEqual([ids[3], ids[3], ids[3]])
    const gone = await call('DELETE', `/api/v1/users/${made.body.id}`, undefined, from(ids[4]))
    expect([gone.id, gone.body.requestId]).toEqual([ids[4], ids[4]])
    // Entries show once older transactions of the cluster have ended.
    const told = async () => {
      const { body } = await call('GET', `/api/v1/events?subjectId=${made.body.id}`)
      return body.events
        .map(({ type, requestId }: { type: string; requestId: string }) => [type, requestId])
        .toSorted()
    }
    await expect.poll(told, { timeout: 20_000 }).toEqual([
      ['user.created', ids[0]],
      ['user.deleted', ids[4]],
      ['user.locked', ids[2]],
    ])
  })

  it('is made here when there is none, or when it might break a line of the log or a header', async () => {
    const made = new Set<string>()
    for (const given of [
      '',
      'short',
      'a b c d e f g h',
      '"quoted-text"',
      '<script>alert(1)</script>',
      'x'.repeat(65),
    ]) {
      const { id, body } = await call('GET', '/api/v1/users/nobody', undefined, from(given))
      expect(id).not.toBe(given)
      expect(body.requestId).toBe(id)
      made.add(String(id))
    }
    expect(made.size).toBe(6)
  })

  // The stored answer is broken behind the server's back, on a connection that the embedded database has not.
  it.skipIf(!usesPostgres)(
    'leads from an answer that says little to the line of the log that says why',
    async () => {
      const [key, id] = [randomUUID(), `job-${randomUUID()}`]
      const headers = { 'idempotency-key': key }
      expect((await call('POST', '/api/v1/users', { name: 'Ada' }, headers)).status).toBe(201)
      const database = new pg.Client({ connectionString: process.env.DATABASE_URL })
      await database.connect()
      await database.query(`UPDATE "IdempotencyKey" SET "answer" = 'broken' WHERE "tenantId" = 'system'`)
      await database.end()
      const failed = await call('POST', '/api/v1/users', { name: 'Ada' }, { ...headers, ...from(id) })
      expect([failed.status, failed.id, failed.body]).toEqual([
        500,
        id,
        {
          message: 'Something went wrong on our side.',
          requestId: id,
          fields: [],
          code: 'INTERNAL_SERVER_ERROR',
        },
      ])
      const linesOf = () =>
        server
          .output()
          .split('\n')
          .filter((line) => line.includes(id))
      await expect.poll(() => linesOf().length).toBe(1)
      expect(JSON.parse(linesOf()[0] ?? '')).toMatchObject({
        level: 'error',
        requestId: id,
        err: { message: expect.stringContaining('no configured ENCRYPTION_KEY opens it') },
      })
    },
  )
})
