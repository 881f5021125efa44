import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { Handle } from '../../src/database/handle.ts'
import { type LogEvent, readEvents } from '../../src/events/log.ts'
import { followEvents, type TailItem } from '../../src/events/tail.ts'
import { decodePosition } from '../../src/model/event-position.ts'
import { inTransaction } from '../support/database.ts'
import { listNames, test } from '../support/written-log.ts'

describe('readers of the event log', () => {
  test('receive all events in the same order from 50 concurrent writers', async ({
    ctx,
    writeOn,
    start,
    readUntil,
    followUntil,
  }) => {
    const total = 50 * 4 * 2
    const readers = [
      followUntil(start, total),
      followUntil(null, total, 1),
      followUntil(start, total, 3),
      readUntil(start, total),
    ]
    // Until the follower without a position has joined.
    await sleep(50)
    await Promise.all(
      Array.from({ length: 50 }, async (_, writer) => {
        for (let round = 0; round < 4; round++) {
          await ctx.db.transaction(async (tx) => {
            await writeOn(tx, `${writer}.${round}.a`)
            await sleep((writer * 7 + round) % 5)
            await writeOn(tx, `${writer}.${round}.b`)
          })
        }
      }),
    )
    const [first, ...others] = (await Promise.all(readers)).map(listNames)
    expect(new Set(first).size).toBe(total)
    for (const other of others) expect(other).toEqual(first)
  })

  test('that reconnect at their position miss no event', async ({ write, start, followUntil }) => {
    const writing = (async () => {
      for (let index = 0; index < 60; index++) {
        await write(String(index))
      }
    })()
    const seen: LogEvent[] = []
    let at = start
    while (seen.length < 60) {
      const events = await followUntil(at, Math.min(1 + (seen.length % 4), 60 - seen.length))
      seen.push(...events)
      at = decodePosition(events.at(-1)?.position ?? '')
    }
    await writing
    expect(listNames(seen)).toEqual(Array.from({ length: 60 }, (_, index) => String(index)))
  })

  test('that are slower than the tail receive the older events from the log', async ({
    tenant,
    write,
    start,
    followUntil,
  }) => {
    const controller = new AbortController()
    const slow = followEvents(tenant, start, controller.signal)
    await write('first')
    await slow.next()
    const names = Array.from({ length: 2600 }, (_, index) => String(index))
    await write(...names)
    await followUntil(
      (await readEvents(new Handle({ tenant }), start, 1)).events.map(({ position }) =>
        decodePosition(position),
      )[0] ?? null,
      2600,
    )
    const seen: string[] = []
    while (seen.length < 2600) {
      const { value } = (await slow.next()) as IteratorResult<TailItem>
      if (value?.kind === 'event') seen.push(value.event.subjectIds[0] ?? '')
    }
    controller.abort()
    expect(seen).toEqual(names)
  })

  test('end when they are aborted while they are idle', async ({ tenant, start }) => {
    const controller = new AbortController()
    const idle = followEvents(tenant, start, controller.signal).next()
    await sleep(50)
    controller.abort()
    expect(await Promise.race([idle, sleep(500)])).toEqual({ done: true, value: undefined })
  })

  test('with a position before the retained events receive a gap and continue after it', async ({
    tenant,
    write,
    start,
    readUntil,
  }) => {
    await write('a', 'b', 'c')
    const events = await readUntil(start, 3)
    const trimmedTo = events[1]?.position ?? ''
    await inTransaction(async (sql) => {
      await sql('DELETE FROM "Event" WHERE "tenantId" = $1 AND "seq" <= $2::bigint', [
        tenant,
        String(decodePosition(trimmedTo).seq),
      ])
      await sql('UPDATE "Tenant" SET "eventsTrimmedTo" = $2 WHERE "tenantId" = $1', [tenant, trimmedTo])
    })
    const controller = new AbortController()
    const follower = followEvents(tenant, start, controller.signal)
    expect((await follower.next()).value).toEqual({ kind: 'gap', position: decodePosition(trimmedTo) })
    expect((await follower.next()).value).toMatchObject({ kind: 'event', event: { subjectIds: ['c'] } })
    controller.abort()
    await follower.return(undefined)
  })
})
