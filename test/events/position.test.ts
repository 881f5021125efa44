import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { newId } from '../../src/core/crypto.ts'
import { createEvent } from '../../src/events/create-event.ts'
import { recordEvents } from '../../src/events/log.ts'
import { createUser } from '../../src/users/users.ts'
import { connectToDatabase, toTx } from '../support/connections.ts'
import type { Json } from '../support/json.ts'
import { untilWaiting } from '../support/locks.ts'
import { recordWarmStatements } from '../support/statements.ts'
import { EVENTS, test } from '../support/subscriptions.ts'

const USERS = 40
const READERS = 8
/** The fields of a query are executed at the same time: the list is read before the viewer. */
const LIST = '{ users(first: 1000) { nodes { id } } viewer { eventPosition } }'

describe('viewer.eventPosition', () => {
  test('is where a stream begins that has each change that a list of the same query does not have', async ({
    ctx,
    server,
    tenant,
    token,
    follow,
  }) => {
    const readLists = async (): Promise<{ ids: string[]; after: string }[]> => {
      const read: { ids: string[]; after: string }[] = []
      for (let reader = 0; reader < READERS; reader += 1) {
        const { body } = await server.post(tenant, token, LIST)
        const { users, viewer } = body.data
        read.push({ ids: users.nodes.map(({ id }: Json) => id), after: viewer.eventPosition })
      }
      return read
    }
    const writeUsers = () =>
      Promise.all(Array.from({ length: USERS }, (_, index) => createUser(ctx, { name: `User ${index}` })))
    const [lists, users] = await Promise.all([readLists(), writeUsers()])
    const last = await createUser(ctx, { name: 'Last' })
    for (const { ids, after } of lists) {
      const stream = await follow(EVENTS, { types: ['USER_CREATED'], after })
      const seen = new Set<string>(ids)
      while (!seen.has(last.id)) seen.add((await stream.next())?.data?.data.events.subjectIds[0])
      stream.close()
      expect(users.filter(({ id }) => !seen.has(id))).toEqual([])
    }
  })

  test('is that before the lists when an event is recorded while the query is executed', async ({
    ctx,
    server,
    tenant,
    token,
    follow,
  }) => {
    const id = newId('user')
    const late = await connectToDatabase()
    await late.query('BEGIN')
    await late.query('LOCK TABLE "Event" IN ACCESS EXCLUSIVE MODE')
    const reading = server.post(tenant, token, LIST)
    await untilWaiting(1)
    // Long enough for a list that does not wait for the position.
    await sleep(100)
    await late.query(`INSERT INTO "User" ("tenantId", "id") VALUES ($1, $2)`, [tenant, id])
    await recordEvents(toTx(late, tenant), ctx, [createEvent('user.created', { userId: id })])
    await late.query('COMMIT')
    const { users, viewer } = (await reading).body.data
    const seen = new Set<string>(users.nodes.map((user: Json) => user.id))
    const last = await createUser(ctx, { name: 'Last' })
    const stream = await follow(EVENTS, { types: ['USER_CREATED'], after: viewer.eventPosition })
    while (!seen.has(last.id)) seen.add((await stream.next())?.data?.data.events.subjectIds[0])
    expect(seen).toContain(id)
  })

  test('is read before the lists of its query', async ({ server, tenant, token }) => {
    const read = () => server.post(tenant, token, LIST)
    const statements = await recordWarmStatements(read, read)
    const find = (table: string) => statements.findIndex((text) => text.includes(`FROM "${table}"`))
    expect([find('Event'), find('User')]).toEqual([0, 1])
  })

  test('costs a query without it no statement', async ({ server, tenant, token }) => {
    const read = () => server.post(tenant, token, '{ viewer { tokenExpiresAt } }')
    const statements = await recordWarmStatements(read, read)
    expect(statements).toEqual([])
  })

  test('is for a client with a scope of a stream, and for a user with the scope account', async ({
    server,
    tenant,
    newSubscriber,
    gql,
  }) => {
    const query = '{ viewer { eventPosition } }'
    const { token } = await newSubscriber()
    const position = expect.stringMatching(/^[\w-]+$/)
    expect((await server.post(tenant, token, query)).body.data.viewer.eventPosition).toEqual(position)
    for (const scope of ['events:read', 'sessions:read', 'users:read'] as const) {
      const { body } = await gql(query, {}, { scopes: [scope] })
      expect(body.data.viewer.eventPosition).toEqual(position)
    }
    const { body } = await gql(query, {}, { scopes: ['clients:read'] })
    expect(body.data.viewer).toEqual({ eventPosition: null })
    expect(body.errors?.[0]?.extensions.code).toBe('FORBIDDEN')
  })
})
