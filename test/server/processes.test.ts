import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient as createSseClient } from 'graphql-sse'
import { describe, expect, test } from 'vitest'
import { decodePosition } from '../../src/model/event-position.ts'
import { ensureBuilt } from '../support/build.ts'
import { connectToDatabase } from '../support/connections.ts'
import { startMailServer } from '../support/mail-server.ts'
import { freePort, operatorToken } from '../support/process.ts'
import {
  callGraphql,
  callRest,
  makeTenant,
  newServerEnv,
  SCOPES,
  startTestServer,
} from '../support/started-servers.ts'

describe('a server process', { timeout: 120_000 }, () => {
  test('exits without the variables of production, names them and prints no secret', () => {
    const secret = 'not-a-key-but-secret'
    ensureBuilt()
    const result = spawnSync(process.execPath, ['dist/main.js'], {
      env: { PATH: process.env.PATH, NODE_ENV: 'production', ENCRYPTION_KEY: secret },
      encoding: 'utf8',
    })
    expect(result.status).toBe(1)
    expect(result.stderr).toContain('Vestibule cannot start:')
    for (const name of ['BASE_URL', 'DATABASE_URL', 'ENCRYPTION_KEY', 'SMTP_URL'])
      expect(result.stderr).toContain(name)
    expect(result.stderr + result.stdout).not.toContain(secret)
  })

  test('does not start with another ENCRYPTION_KEY than that of its database', async () => {
    const env = await newServerEnv()
    const first = await startTestServer(env)
    expect(await first.stop()).toBe(0)
    const other = Buffer.alloc(32, 'another').toString('base64url')
    await expect(startTestServer({ ...env, ENCRYPTION_KEY: other })).rejects.toThrow(/ENCRYPTION_KEY/)
  })

  test('closes open streams on SIGTERM and exits with 0 within 10 s', async () => {
    const server = await startTestServer(await newServerEnv())
    const baseUrl = `http://localhost:${new URL(server.origin).port}`
    const token = await makeTenant(server, baseUrl, 'stopping')
    const stream = await fetch(`${server.origin}/stopping/graphql`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'text/event-stream',
        authorization: `Bearer ${token}`,
      },
      body: JSON.stringify({ query: 'subscription { userLockChanged { __typename } }' }),
    })
    expect(stream.status).toBe(200)
    const ended = stream.text().catch(() => '')
    const started = Date.now()
    expect(await server.stop()).toBe(0)
    expect(Date.now() - started).toBeLessThan(10_000)
    await ended
    await expect(fetch(`${server.origin}/health/live`)).rejects.toThrow()
  })

  test('answers requests while Redis is away and reports degraded readiness', async () => {
    const redisAway = `redis://127.0.0.1:${await freePort()}`
    const server = await startTestServer({ ...(await newServerEnv()), REDIS_URL: redisAway })
    const ready = await fetch(`${server.origin}/health/ready`)
    expect(ready.status).toBe(200)
    expect(await ready.json()).toEqual({ status: 'ready', degraded: { redis: 'does not answer' } })
    const baseUrl = `http://localhost:${new URL(server.origin).port}`
    const token = await makeTenant(server, baseUrl, 'without-redis')
    expect(await callRest(server, 'without-redis', token, '/users', { name: 'Ada' })).toMatchObject({
      status: 201,
    })
    expect(await server.stop()).toBe(0)
  })

  test('loses no acknowledged write and no event when it is killed during writes', async () => {
    const port = String(await freePort())
    const env = { ...(await newServerEnv()), PORT: port }
    const baseUrl = `http://localhost:${port}`
    const before = await startTestServer(env)
    const token = await makeTenant(before, baseUrl, 'burst')

    const acknowledged: string[] = []
    let writing = true
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (let n = 0; writing; n++) {
        const answer = await callRest(before, 'burst', token, '/users', {
          name: `Writer ${writer}, ${n}`,
        }).catch(() => null)
        if (answer?.status === 201) acknowledged.push(answer.body.id)
      }
    })
    while (acknowledged.length < 100) await sleep(20)
    await before.kill()
    writing = false
    await Promise.all(writers)

    const after = await startTestServer(env)
    const again = await operatorToken(after, baseUrl, 'burst', SCOPES)
    const stored = new Set<string>()
    for (let page = 0; ; page++) {
      const { body } = await callRest(after, 'burst', again, `/users?page=${page}&pageSize=1000`)
      const users = body.users as { id: string }[]
      for (const { id } of users) stored.add(id)
      if (users.length < 1000) {
        // A write that was not acknowledged may be there or not, but whole: counted and logged.
        expect(body.totalSize).toBe(stored.size)
        break
      }
    }
    expect(acknowledged.filter((id) => !stored.has(id))).toEqual([])

    const logged: string[] = []
    let position: string | null = null
    for (;;) {
      const query: string =
        'query ($after: String) { events(first: 500, after: $after) { nodes { type: typeName position ... on AuditEvent { subjectIds } } } }'
      const { events } = await callGraphql(after, 'burst', again, query, { after: position })
      const nodes = (
        events as unknown as { nodes: { type: string; position: string; subjectIds?: string[] }[] }
      ).nodes
      for (const node of nodes) {
        decodePosition(node.position)
        if (node.type === 'user.created') logged.push(...(node.subjectIds ?? []))
      }
      position = nodes.at(-1)?.position ?? null
      if (nodes.length < 500) break
    }
    expect(logged.toSorted()).toEqual([...stored].toSorted())
  })

  test('logs the cause of an error that the answer hides, under the request id', async () => {
    const [key, id] = [randomUUID(), `job-${randomUUID()}`]
    const headers = { 'idempotency-key': key }
    const server = await startTestServer({ ...(await newServerEnv()), LOG_LEVEL: 'info', TRUST_PROXY: '1' })
    const token = await makeTenant(server, `http://localhost:${new URL(server.origin).port}`, 'broken')
    const post = (more: Record<string, string> = {}) =>
      callRest(server, 'broken', token, '/users', { name: 'Ada' }, { ...headers, ...more })
    expect((await post()).status).toBe(201)
    const database = await connectToDatabase()
    await database.query(`UPDATE "IdempotencyKey" SET "answer" = 'broken' WHERE "tenantId" = 'broken'`)
    const failed = await post({ 'x-request-id': id })
    expect([failed.status, failed.headers.get('x-request-id'), failed.body]).toEqual([
      500,
      id,
      {
        message: 'Something went wrong on our side.',
        requestId: id,
        fields: [],
        code: 'INTERNAL_SERVER_ERROR',
      },
    ])
    const readLines = () =>
      server
        .output()
        .split('\n')
        .filter((line) => line.includes(id))
    await expect.poll(() => readLines().length).toBe(1)
    expect(JSON.parse(readLines()[0] ?? '')).toMatchObject({
      level: 'error',
      requestId: id,
      err: { message: expect.stringContaining('no configured ENCRYPTION_KEY decrypts it') },
    })
  })
})

describe.skipIf(!process.env.REDIS_URL)('two server processes with one PostgreSQL and one Redis', () => {
  test('deliver the events of each other and verify passcodes of each other', async () => {
    const mails: { to: string; text: string }[] = []
    const mailServer = await startMailServer(({ text = '' }, to) => mails.push({ to: to[0] ?? '', text }))
    const baseUrl = 'http://localhost:4000'
    const env = {
      ...(await newServerEnv()),
      BASE_URL: baseUrl,
      SMTP_URL: mailServer.url,
    }
    const [one, other] = await Promise.all([startTestServer(env), startTestServer(env)])
    const token = await makeTenant(one, baseUrl, 'shared')

    const subscriber = createSseClient({
      url: `${other.origin}/shared/graphql`,
      headers: { authorization: `Bearer ${token}` },
      singleConnection: false,
    })
    const received = (async () => {
      const events: unknown[] = []
      const query = 'subscription { sessionChanged { ... on SessionEvent { kind reason userId } } }'
      for await (const { data } of subscriber.iterate({ query })) {
        events.push((data as { sessionChanged: unknown }).sessionChanged)
        if (events.length === 2) return events
      }
      return events
    })()
    await sleep(500)

    const to = 'two@example.com'
    const sent = await callRest(one, 'shared', token, '/passcodes/email', { to, createUser: true })
    expect(sent).toMatchObject({ status: 200, body: { to, userCreated: true } })
    expect(mails).toHaveLength(1)
    const code = /\b(\d{6})\b/.exec(mails[0]?.text ?? '')?.[1]
    const verified = await callRest(other, 'shared', token, '/passcodes/authenticate', {
      to,
      code,
      sessionExpirationMinutes: 5,
    })
    expect(verified).toMatchObject({ status: 200, body: { user: { email: to, emailVerified: true } } })
    const again = await callRest(one, 'shared', token, '/passcodes/authenticate', { to, code })
    expect(again.status).toBe(401)

    const userId = sent.body.userId
    const lockedAt = Date.now()
    await callGraphql(
      one,
      'shared',
      token,
      'mutation ($id: ID!) { lockUser(input: {userId: $id}) { __typename } }',
      { id: userId },
    )
    expect(await received).toEqual([
      { kind: 'STARTED', reason: null, userId },
      { kind: 'ENDED', reason: 'LOCKED', userId },
    ])
    // Live events wait for older transactions of the whole cluster, also those of other tests.
    expect(Date.now() - lockedAt).toBeLessThan(5000)
    subscriber.dispose()
    expect(await Promise.all([one.stop(), other.stop()])).toEqual([0, 0])
    await mailServer.close()
  }, 60_000)
})
