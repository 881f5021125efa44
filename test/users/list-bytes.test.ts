import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type ClientRequest, request } from 'node:http'
import type { Client } from 'graphql-ws'
import { describe, expect } from 'vitest'
import { OpenAnswer } from '../../src/coordination/answers.ts'
import { newId } from '../../src/core/crypto.ts'
import { apiAudienceOf } from '../../src/core/issuer.ts'
import { OPERATION_BYTES, PAGE_BYTES, ReadLimit } from '../../src/core/network/read-limit.ts'
import { readHead } from '../../src/events/log.ts'
import { encodePosition } from '../../src/model/event-position.ts'
import { issueAccessToken } from '../../src/oidc/token/access-tokens.ts'
import { exportUsers } from '../../src/users/transfer/export.ts'
import { createUser, lockUser, unlockUser } from '../../src/users/users.ts'
import { newTenant, tokenFor } from '../support/actors.ts'
import { dbFor } from '../support/database.ts'
import { test as base } from '../support/fixtures.ts'
import type { Json } from '../support/json.ts'
import { makeClient } from '../support/protocol.ts'
import { openSocket } from '../support/streams.ts'
import { startApiSession } from '../support/user-sessions.ts'

const USERS = 90
const TEXT = 'x'.repeat(60_000)

/** With `ids`: users of 60 KB each, 5.4 MB in all. */
const test = base
  .extend('ids', { scope: 'file' }, async ({ ctx }) => {
    const ids: string[] = []
    for (let n = 0; n < USERS; n++)
      ids.push((await createUser(ctx, { name: `User ${n}`, userMetadata: { TEXT } })).id)
    return ids
  })
  /** Opens WebSockets that end with the test. */
  .extend('openSubscriber', async ({ app, tenant, token }, { onCleanup }) => {
    const opened: Client[] = []
    onCleanup(() => {
      for (const socket of opened) void socket.dispose()
    })
    return () => {
      const socket = openSocket(`${app.origin.replace('http', 'ws')}/${tenant}/graphql`, token)
      opened.push(socket)
      return socket
    }
  })

const PAGE = 'pageInfo { endsEarly hasNextPage hasPreviousPage startCursor endCursor }'
const toIds = (rows: Json[]): string[] => rows.map(({ id }) => id)

describe('a page of large rows', () => {
  test('ends at its bytes over REST, and its link continues after the last row', async ({
    app,
    tenant,
    token,
    ids,
  }) => {
    const pages: string[][] = []
    const early: boolean[] = []
    let path: string | undefined = `/${tenant}/api/v1/users?pageSize=1000`
    while (path) {
      const answer: Response = await fetch(app.origin + path, {
        headers: { authorization: `Bearer ${token}` },
      })
      const text = await answer.text()
      expect(text.length).toBeLessThan(PAGE_BYTES + 200_000)
      const body = JSON.parse(text)
      pages.push(toIds(body.users))
      early.push(body.endsEarly)
      expect(body.totalSize).toBe(USERS)
      path = /<([^>]+)>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1]
    }
    expect(pages.flat()).toEqual(ids)
    expect(early).toEqual([true, false])
  })

  test.for([
    ['forward', 'id userMetadata'],
    ['backward', 'id userMetadata'],
    ['forward', 'id userMetadata sessions(first: 1) { nodes { id } }'],
    ['backward', 'id userMetadata sessions(first: 1) { nodes { id } }'],
  ] as const)('is continued by cursor %s over GraphQL: %s', async ([direction, fields], { gql, ids }) => {
    const [size, from, end] =
      direction === 'forward' ? ['first', 'after', 'endCursor'] : ['last', 'before', 'startCursor']
    const pages: string[][] = []
    for (let cursor: string | null = null, more = true; more; ) {
      const { body }: Json = await gql(
        `query ($cursor: String) { users(${size}: 1000, ${from}: $cursor) { nodes { ${fields} } ${PAGE} } }`,
        { cursor },
      )
      const { nodes, pageInfo } = body.data.users
      more = direction === 'forward' ? pageInfo.hasNextPage : pageInfo.hasPreviousPage
      expect(pageInfo.endsEarly).toBe(more)
      if (direction === 'forward') pages.push(toIds(nodes))
      else pages.unshift(toIds(nodes))
      cursor = pageInfo[end]
    }
    expect(pages.length).toBe(2)
    expect(pages.flat()).toEqual(ids)
  })

  test('is an error when it has a number, since the next number would leave rows out', async ({
    rest,
    gql,
    ids: _,
  }) => {
    const { status, body } = await rest('GET', '/users?page=0&pageSize=1000')
    expect([status, body.fields]).toEqual([
      400,
      [{ field: 'pageSize', description: expect.stringContaining('4 MB') }],
    ])
    const answer = await gql('{ users(page: 0, pageSize: 1000) { nodes { userMetadata } } }')
    expect(answer.body.errors?.[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT' })
    expect((await rest('GET', '/users?page=1&pageSize=20')).body.users).toHaveLength(20)
  })

  test('is as long as asked for when large fields are not selected', async ({ gql, ids }) => {
    const { body } = await gql(`{ users(first: 1000) { nodes { id } ${PAGE} } }`)
    expect(toIds(body.data?.users.nodes)).toEqual(ids)
    expect(body.data?.users.pageInfo.endsEarly).toBe(false)
  })
})

describe('the lists of one operation', () => {
  test('share its bytes, and each can be continued', async ({ gql, ids }) => {
    const list = (name: string) => `${name}: users(first: 1000) { nodes { id userMetadata } ${PAGE} }`
    const { body }: Json = await gql(`{ ${['a', 'b', 'c', 'd'].map(list).join(' ')} }`)
    expect(JSON.stringify(body).length).toBeLessThan(OPERATION_BYTES + 100_000)
    for (const name of ['a', 'b', 'c', 'd']) {
      const { nodes, pageInfo } = body.data[name]
      expect(nodes.length).toBeGreaterThan(0)
      expect(pageInfo).toMatchObject({ endsEarly: true, hasNextPage: true })
      const rest = await gql('query ($after: String) { users(first: 1, after: $after) { nodes { id } } }', {
        after: pageInfo.endCursor,
      })
      expect(rest.body.data?.users.nodes[0].id).toBe(ids[nodes.length])
    }
  })

  test('share its bytes over a WebSocket', async ({ openSubscriber, ids: _ }) => {
    const lists = ['a', 'b', 'c', 'd'].map((name) => `${name}: users(first: 60) { nodes { userMetadata } }`)
    const { value } = await openSubscriber()
      .iterate({ query: `{ ${lists.join(' ')} }` })
      .next()
    expect(value?.errors).toBeUndefined()
    expect(JSON.stringify(value?.data).length).toBeLessThan(OPERATION_BYTES + 100_000)
  })

  test('cannot multiply one large row beyond its bytes', async ({ ctx, gql, ids }) => {
    const [userId = ''] = ids
    for (let n = 0; n < 300; n++) await startApiSession(ctx, userId)
    const { body } = await gql('{ sessions(first: 300) { nodes { user { userMetadata } } } }')
    expect(body.data).toBeUndefined()
    expect(body.errors?.[0]).toMatchObject({
      message: 'The request asks for too much data at once.',
      extensions: { code: 'BAD_USER_INPUT' },
    })
  })
})

/** An answer of 8 MB, more than the operating system takes of a response that is not read. */
const LARGE = '{ users(first: 1000) { nodes { a: userMetadata b: userMetadata } } }'

describe('answers that are not read', () => {
  test('are bounded for a caller, and take nothing from others', async ({ app, tenant, token, ids: _ }) => {
    const opened: ClientRequest[] = []
    const { id: clientId } = await makeClient(tenant, {
      appType: 'machine',
      callbacks: [],
      scopes: ['users:read'],
    })
    const other = await issueAccessToken(tenant, {
      subject: clientId,
      clientId,
      scopes: ['users:read'],
      audience: [apiAudienceOf(tenant)],
      lifetimeSeconds: 600,
    })
    const list = async (bearer: string) => {
      const sent = request(`${app.origin}/${tenant}/graphql`, {
        method: 'POST',
        agent: false,
        headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
      })
      opened.push(sent)
      sent.on('error', () => undefined).end(JSON.stringify({ query: LARGE }))
      const [response] = await once(sent, 'response')
      return response
    }
    let unread = 0
    let rejected = await list(token)
    while (rejected.statusCode === 200 && unread < 20) {
      unread += 1
      rejected = await list(token)
    }
    expect(rejected.statusCode).toBe(429)
    expect(Number(rejected.headers['retry-after'])).toBeGreaterThan(0)
    // An eighth of 128 MB.
    expect(unread).toBeGreaterThan(0)
    expect(unread).toBeLessThan(4)
    expect((await list(other)).statusCode).toBe(200)
    for (const sent of opened) sent.destroy()
    await expect.poll(async () => (await list(token)).statusCode).toBe(200)
    for (const sent of opened) sent.destroy()
  })

  test('are counted once their rows are read', ({ ctx }) => {
    const answer = new OpenAnswer({ ...ctx, tenant: 'apart' })
    const limit = new ReadLimit(answer, 10)
    for (let row = 0; row < 5; row += 1) limit.take(1_000_000)
    limit.settle()
    expect(answer.bytes).toBe(4_000_000)
    answer.close()
  })

  test('of several callers leave half of the rest to each other one of their tenant', ({ ctx }) => {
    const tenant = 'apart'
    const open = (clientId: string) =>
      new OpenAnswer({ ...ctx, tenant, actor: { kind: 'client', tenant, clientId } })
    const [ada, bea, eve] = [open('ada'), open('bea'), open('eve')]
    try {
      ada.add(16_000_000)
      expect(() => ada.add(100_000)).toThrow('Too many bytes of answers')
      expect(() => bea.add(8_100_000)).toThrow('Too many bytes of answers')
      expect(() => bea.add(7_900_000)).not.toThrow()
      expect(() => eve.add(4_000_000)).not.toThrow()
    } finally {
      for (const answer of [ada, bea, eve]) answer.close()
    }
  })

  test('over a WebSocket count until they are sent', async ({ openSubscriber, ids: _ }) => {
    const socket = openSubscriber()
    // More in all than a caller may have unread.
    for (let n = 0; n < 22; n++) {
      const { value } = await socket
        .iterate({ query: '{ users(first: 14) { nodes { userMetadata } } }' })
        .next()
      expect(value?.errors).toBeUndefined()
    }
  })

  test('of other tenants do not count', async ({ app }) => {
    const other = await newTenant()
    expect((await app.rest(other, await tokenFor(other), 'GET', '/users')).status).toBe(200)
  })
})

describe('an export of large users', () => {
  test('reads a megabyte at a time', async ({ ctx, ids }) => {
    const exported: string[] = []
    for await (const part of exportUsers(ctx)) {
      expect(JSON.stringify(part).length).toBeLessThan(1_300_000)
      exported.push(...toIds(part as Json[]))
    }
    expect(exported).toEqual(ids)
  })
})

describe('the lists of one event', () => {
  test('share the bytes of an operation, also for subscribers who share their execution', async ({
    ctx,
    tenant,
    openSubscriber,
  }) => {
    const { id } = await createUser(ctx, { name: 'Many sessions' })
    /** Locks the user and unlocks it with new sessions of 3.6 MB. */
    const change = async () => {
      await lockUser(ctx, id)
      await dbFor(tenant).session.createMany({
        data: Array.from({ length: 60 }, () => ({
          tenantId: tenant,
          id: newId('session'),
          userId: id,
          kind: 'api',
          tokenHash: randomBytes(32),
          proofs: [{ method: 'passcode', amr: ['otp'], at: new Date().toISOString(), note: TEXT }],
          expiresAt: new Date(Date.now() + 3_600_000),
        })),
      })
      await unlockUser(ctx, id)
    }
    const lists = ['a', 'b', 'c'].map(
      (name) => `${name}: sessions(first: 100) { nodes { proofs { method } } pageInfo { endsEarly } }`,
    )
    const query = `subscription ($after: String) { userLockChanged(userId: "${id}", after: $after) {
      ... on UserLockEvent { kind user { ${lists.join(' ')} } } } }`
    const variables = { after: encodePosition((await readHead(ctx.db)).head) }
    const socket = openSubscriber()
    const subscribers = [1, 2].map(() => socket.iterate({ query, variables }))
    const readUnlocked = async (events: (typeof subscribers)[number]): Promise<Json> => {
      const { value }: Json = await events.next()
      const { kind, user } = value.data.userLockChanged
      return kind === 'UNLOCKED' ? Object.values(user) : readUnlocked(events)
    }
    for (let round = 0; round < 2; round += 1) {
      const read = Promise.all(subscribers.map(readUnlocked))
      await change()
      // They are read at once: any of them may be the last.
      for (const pages of await read)
        expect(pages.filter(({ pageInfo }: Json) => pageInfo.endsEarly)).toHaveLength(1)
    }
  })
})
