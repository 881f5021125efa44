import { describe, expect } from 'vitest'
import { system } from '../../src/database/system.ts'
import { listEvents, markEvents } from '../../src/events/list.ts'
import { deleteMarks, insertMarks } from '../../src/events/marks.sql.ts'
import { deleteEvents, deleteFinishedRows } from '../../src/jobs/cleanup.sql.ts'
import { sql } from '../support/database.ts'
import { test as base } from '../support/tenant-per-test.ts'

const LONG_AGO = new Date('2001-01-02')
const EVENTS = 9500

const test = base
  /** Records events, of which one in ten is a rejected request, and waits until the log shows them. */
  .extend('fill', ({ ctx }) => async (count: number): Promise<void> => {
    await sql(
      `INSERT INTO "Event" ("tenantId", "id", "type", "occurredAt")
       SELECT $1, 'e' || gen_random_uuid(), CASE WHEN n % 10 = 0 THEN 'token.refused' ELSE 'user.updated' END, '2001-01-01'
       FROM generate_series(1, $2::int) n`,
      [ctx.tenant, count],
    )
    const [last] = await sql<{ id: string }>(
      `SELECT "id" FROM "Event" WHERE "tenantId" = $1 ORDER BY "era" DESC, "xid" DESC, "seq" DESC LIMIT 1`,
      [ctx.tenant],
    )
    await expect
      .poll(async () => (await listEvents(ctx, { last: 1 })).rows[0]?.id, { timeout: 20_000 })
      .toBe(last?.id)
  })
  .extend('listIds', ({ ctx }) => async (): Promise<string[]> => {
    const rows = await sql<{ id: string }>(
      `SELECT "id" FROM "Event" WHERE "tenantId" = $1 ORDER BY "era", "xid", "seq"`,
      [ctx.tenant],
    )
    return rows.map(({ id }) => id)
  })
  /** Asserts that pages at the ends, at the marks and between them are those of the log, in both directions. */
  .extend('assertPages', ({ ctx, listIds }) => async (filter?: object): Promise<void> => {
    const ids = await listIds()
    const { countAll } = await listEvents(ctx, { page: 0, filter })
    const total = await countAll()
    if (!filter) expect(total).toBe(ids.length)
    const pages = Math.ceil(total / 50)
    for (const direction of ['asc', 'desc'])
      for (const page of new Set([
        0,
        1,
        39,
        40,
        41,
        79,
        80,
        81,
        pages >> 1,
        Math.max(pages - 2, 0),
        Math.max(pages - 1, 0),
        pages,
        9999,
      ])) {
        const { rows, ...rest } = await listEvents(ctx, { page, pageSize: 50, direction, filter })
        expect(rest).toMatchObject({ page, pageSize: 50, hasPreviousPage: page > 0 })
        expect(rest.hasNextPage).toBe((page + 1) * 50 < total)
        const all = direction === 'asc' ? ids : ids.toReversed()
        if (!filter) expect(rows.map(({ id }) => id)).toEqual(all.slice(page * 50, page * 50 + 50))
      }
  })
  .extend('marks', ({ ctx }) => async (): Promise<number[]> => {
    const rows = await sql<{ events: number }>(
      `SELECT "events" FROM "EventMark" WHERE "tenantId" = $1 ORDER BY "era", "xid", "seq"`,
      [ctx.tenant],
    )
    return rows.map(({ events }) => events)
  })

describe('pages of the event log by number', () => {
  test('are exact without marks, with them, and after events beyond them', async ({
    ctx,
    fill,
    assertPages,
    marks,
  }) => {
    await fill(1)
    await assertPages()
    await fill(EVENTS)
    await assertPages()
    // The count has found that marks are missing.
    await expect.poll(marks).toEqual([2000, 2000, 2000, 2000])
    await assertPages()
    await fill(100)
    await assertPages()
    await assertPages({ types: ['token.refused'] })
    await fill(3000)
    await markEvents(ctx)
    expect(await marks()).toHaveLength(6)
    await assertPages()
  })

  test('stay exact when rejected requests and old events are deleted', async ({
    ctx,
    fill,
    assertPages,
    listIds,
    marks,
  }) => {
    await fill(EVENTS)
    await markEvents(ctx)
    const all = (await listIds()).length
    await deleteFinishedRows(system, 'RefusedEvent', LONG_AGO, 10_000)
    expect(await listIds()).toHaveLength(all - EVENTS / 10)
    await assertPages()
    await ctx.db.transaction(async (tx) => {
      const { last } = await deleteEvents(tx, LONG_AGO, 2500)
      if (last) await deleteMarks(tx, last)
    })
    expect(await listIds()).toHaveLength(all - EVENTS / 10 - 2500)
    expect((await marks()).length).toBeLessThan(4)
    await assertPages()
    await fill(200)
    await assertPages()
  })

  test('stay exact while marks are made and events are deleted at the same time', async ({
    ctx,
    fill,
    assertPages,
    marks,
  }) => {
    await fill(EVENTS)
    await Promise.all([
      markEvents(ctx),
      ctx.db.transaction(insertMarks),
      deleteFinishedRows(system, 'RefusedEvent', LONG_AGO, 600),
      deleteFinishedRows(system, 'RefusedEvent', LONG_AGO, 10_000),
    ])
    expect((await marks()).length).toBeGreaterThan(2)
    await assertPages()
  })
})
