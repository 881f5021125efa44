import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { createUser } from '../../src/users/users.ts'
import { ctxFor, newTenant, tokenFor } from '../support/actors.ts'
import { inTransaction } from '../support/database.ts'
import { openEventStream } from '../support/streams.ts'
import { awaitVisible, EVENTS, NUMBERS, numberOf, test } from '../support/subscriptions.ts'

describe('a resumed subscription', () => {
  test('with `after` delivers missed and new events, each once and in order', async ({
    recordNumbers,
    follow,
  }) => {
    const first = await follow(EVENTS, NUMBERS)
    await recordNumbers(1, 2)
    await first.next()
    const seen = await first.next()
    first.close()
    await recordNumbers(3, 4, 5)
    const second = await follow(EVENTS, { ...NUMBERS, after: seen?.data?.data.events.position })
    await recordNumbers(6)
    const numbers: number[] = []
    for (let index = 0; index < 4; index++) numbers.push(numberOf((await second.next())?.data))
    expect(numbers).toEqual([3, 4, 5, 6])
  })

  test('with Last-Event-ID continues there, also when no event had arrived', async ({
    recordNumbers,
    follow,
  }) => {
    const first = await follow(EVENTS, NUMBERS)
    await recordNumbers(11)
    expect(numberOf((await first.next())?.data)).toBe(11)
    first.close()
    await recordNumbers(12)
    const second = await follow(EVENTS, NUMBERS, { lastEventId: first.lastEventId() })
    expect(numberOf((await second.next())?.data)).toBe(12)
    second.close()
    const idle = await follow(EVENTS, NUMBERS)
    await sleep(50)
    idle.next().catch(() => null)
    await sleep(50)
    idle.close()
    await recordNumbers(13)
    expect(idle.lastEventId()).toMatch(/^[\w-]+$/)
    const third = await follow(EVENTS, NUMBERS, { lastEventId: idle.lastEventId() })
    expect(numberOf((await third.next())?.data)).toBe(13)
  })

  test('with both continues from Last-Event-ID', async ({ recordNumbers, follow }) => {
    await recordNumbers(21)
    const begun = await follow(EVENTS, NUMBERS)
    await recordNumbers(22)
    expect(numberOf((await begun.next())?.data)).toBe(22)
    const after = begun.lastEventId()
    await recordNumbers(23)
    expect(numberOf((await begun.next())?.data)).toBe(23)
    const again = await follow(EVENTS, { ...NUMBERS, after }, { lastEventId: begun.lastEventId() })
    await recordNumbers(24)
    expect(numberOf((await again.next())?.data)).toBe(24)
  })

  test('begins with a gap event when retention has deleted events since `after`', async ({
    server,
    opened,
  }) => {
    const other = await newTenant()
    const otherCtx = await ctxFor(other)
    const otherToken = await tokenFor(other)
    const read = async () => {
      const query = '{ events(first: 1000) { nodes { position } } }'
      const { body } = await server.post(other, otherToken, query)
      return body.data.events.nodes.map((node: { position: string }) => node.position) as string[]
    }
    await createUser(otherCtx, { name: 'Ada' })
    await createUser(otherCtx, { name: 'Grace' })
    await awaitVisible(other)
    const positions = await read()
    await inTransaction((sql) =>
      sql('UPDATE "Tenant" SET "eventsTrimmedTo" = $2 WHERE "tenantId" = $1', [other, positions.at(-2)]),
    )
    const reader = await openEventStream(server.urlOf(other), otherToken, EVENTS, { after: positions[0] })
    opened.push(reader)
    expect((await reader.next())?.data?.data.events).toMatchObject({
      __typename: 'EventGap',
      type: 'gap',
      position: positions.at(-2),
    })
    expect((await reader.next())?.data?.data.events.position).toBe(positions.at(-1))
  })

  test.for([
    '',
    'x',
    'MS4yLjM=',
    Buffer.from('1.2.3.4').toString('base64url'),
    Buffer.from('1.99999999999999999999.1').toString('base64url'),
    Buffer.from('1.99999999999.1').toString('base64url'),
    Buffer.from('99.1.1').toString('base64url'),
  ])('is rejected for the forged position %j', async (after, { tenant, token, server }) => {
    const { status, body } = await server.post(tenant, token, EVENTS, { after: after || '-' })
    expect(status).toBe(200)
    expect(body.errors?.[0]?.extensions).toMatchObject({
      code: 'BAD_USER_INPUT',
      fields: [{ field: 'after', description: 'is not a position of the event log' }],
    })
  })
})
