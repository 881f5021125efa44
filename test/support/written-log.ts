import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { type Db, Handle } from '../../src/database/handle.ts'
import { type LogEvent, readEvents, readHead, recordEvents } from '../../src/events/log.ts'
import { followEvents } from '../../src/events/tail.ts'
import { decodePosition, type Position } from '../../src/model/event-position.ts'
import { test as base } from './tenant-per-test.ts'

/** The names under which `write` recorded events. */
export const listNames = (events: LogEvent[]): (string | undefined)[] =>
  events.map(({ subjectIds }) => subjectIds[0])

/** `test` with a tenant for each test, and its log. */
export const test = base
  /** Records an event for each name on a connection. */
  .extend(
    'writeOn',
    ({ ctx }) =>
      (db: Db, ...names: string[]) =>
        recordEvents(
          db,
          ctx,
          names.map((name) => ({
            type: 'consent.granted' as const,
            subjectIds: [name],
            detail: { scope: 'openid' },
          })),
        ),
  )
  /** Records an event for each name in a transaction. */
  .extend(
    'write',
    ({ ctx, writeOn }) =>
      (...names: string[]) =>
        ctx.db.transaction((tx) => writeOn(tx, ...names)),
  )
  /**
   * The head of the log, once all events before it are visible: other databases of the cluster have writers,
   * too.
   */
  .extend('start', async ({ tenant, ctx: _ }): Promise<Position> => {
    const beginning = { era: 0, xid: 0n, seq: 0n }
    await expect
      .poll(async () => (await readEvents(new Handle({ tenant }), beginning, 10)).hidden, { timeout: 20_000 })
      .toBe(false)
    return (await readHead(new Handle({ tenant }))).head
  })
  /** Reads the log until `count` events have arrived. */
  .extend('readUntil', ({ tenant }) => async (after: Position, count: number): Promise<LogEvent[]> => {
    const all: LogEvent[] = []
    let at = after
    while (all.length < count) {
      const { events } = await readEvents(new Handle({ tenant }), at, 7)
      all.push(...events)
      const last = events.at(-1)
      if (last) at = decodePosition(last.position)
      else await sleep(5)
    }
    return all
  })
  /** Follows the log until `count` events have arrived, with a pause after each. */
  .extend(
    'followUntil',
    ({ tenant }) =>
      async (after: Position | null, count: number, pauseMs = 0): Promise<LogEvent[]> => {
        const controller = new AbortController()
        const all: LogEvent[] = []
        for await (const followed of followEvents(tenant, after, controller.signal)) {
          if (followed.kind === 'event') all.push(followed.event)
          if (all.length === count) break
          if (pauseMs) await sleep(pauseMs)
        }
        return all
      },
  )
