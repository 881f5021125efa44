import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { type Ctx, platformCtx } from '../src/ctx.ts'
import { inTransaction, type Sql } from '../src/db.ts'
import { InvalidInput } from '../src/errors.ts'
import { type Followed, followEvents } from '../src/event-tail.ts'
import { selectEvents } from '../src/events.sql.ts'
import {
  comparePositions,
  decodePosition,
  encodePosition,
  type LogEvent,
  type Position,
  readEvents,
  readHead,
  recordEvents,
  wakeReaders,
} from '../src/events.ts'
import { migrate } from '../src/migrate.ts'
import { closeRuntime, openRuntime } from '../src/runtime.ts'
import { newTenant } from './support/actors.ts'
import { dumpAndRestore, serverPrograms, startCluster } from './support/cluster.ts'

const database = inject('database')
/** The embedded database has one session for everybody: two transactions at a time are not possible there. */
const isPostgres = database.kind === 'postgres'

let tenant: string
let ctx: Ctx
const clients: pg.Client[] = []

beforeAll(async () => {
  await openRuntime()
})
afterAll(async () => {
  for (const client of clients) await client.end()
  await closeRuntime()
})

async function connect(url = process.env.DATABASE_URL ?? ''): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  clients.push(client)
  return client
}

const sqlOf =
  (client: pg.Client): Sql =>
  async (text, values) =>
    (await client.query<never>(text, values)).rows

const write = (sql: Sql, ...names: string[]) =>
  recordEvents(
    sql,
    ctx,
    names.map((name) => ({ type: 'consent.granted' as const, subjectIds: [name] })),
  )
const namesOf = (events: LogEvent[]) => events.map(({ subjectIds }) => subjectIds[0])

async function freshTenant(): Promise<Position> {
  tenant = await newTenant()
  ctx = platformCtx(tenant)
  // Other databases of the cluster have writers too: the tenant's own first entry may be hidden for a while.
  const beginning = { era: 0, xid: 0n, seq: 0n }
  await expect
    .poll(async () => (await readEvents(tenant, beginning, 10)).hidden, { timeout: 20_000 })
    .toBe(false)
  return (await readHead(tenant)).head
}

/** Reads on until `count` entries have come. */
async function readUntil(after: Position, count: number): Promise<LogEvent[]> {
  const all: LogEvent[] = []
  let at = after
  while (all.length < count) {
    const { events } = await readEvents(tenant, at, 7)
    all.push(...events)
    const last = events.at(-1)
    if (last) at = decodePosition(last.position)
    else await sleep(5)
  }
  return all
}

/** Follows until `count` entries have come, pausing after each. */
async function followUntil(after: Position | null, count: number, pauseMs = 0): Promise<LogEvent[]> {
  const controller = new AbortController()
  const all: LogEvent[] = []
  for await (const followed of followEvents(tenant, after, controller.signal)) {
    if (followed.kind === 'event') all.push(followed.event)
    if (all.length === count) break
    if (pauseMs) await sleep(pauseMs)
  }
  return all
}

describe('a position', () => {
  test.each<Position>([
    { era: 1, xid: 0n, seq: 0n },
    { era: 999_999_999, xid: 2n ** 63n - 1n, seq: 2n ** 63n - 1n },
  ])('%o survives being written and read', (position) => {
    expect(decodePosition(encodePosition(position))).toEqual(position)
  })

  test.each([
    '',
    'x',
    '1.2.3',
    ...[
      '1.2',
      '1.2.3.4',
      '-1.2.3',
      '1.2.3 ',
      ' 1.2.3',
      '1.02.3',
      '1.2.9223372036854775808',
      '1e3.2.3',
      '1.2.\n3',
    ].map((text) => Buffer.from(text).toString('base64url')),
    `${Buffer.from('1.2.3').toString('base64url')}=`,
  ])('%j is none', (text) => {
    expect(() => decodePosition(text)).toThrow(InvalidInput)
  })

  test('orders by era, then transaction, then entry', () => {
    const positions: Position[] = [
      { era: 1, xid: 9n, seq: 9n },
      { era: 2, xid: 1n, seq: 10n },
      { era: 2, xid: 2n, seq: 1n },
      { era: 2, xid: 2n, seq: 2n },
    ]
    expect([...positions].reverse().sort(comparePositions)).toEqual(positions)
    expect(comparePositions(positions[1] as Position, positions[1] as Position)).toBe(0)
  })
})

describe.skipIf(!isPostgres)('an open transaction', () => {
  test('hides what others commit meanwhile; its own entries come first, and each comes once', async () => {
    const start = await freshTenant()
    const late = await connect()
    await late.query('BEGIN')
    await write(sqlOf(late), 'late-1')
    await inTransaction((sql) => write(sql, 'early-1'))
    await inTransaction((sql) => write(sql, 'early-2'))
    expect(await readEvents(tenant, start, 100)).toEqual({ events: [], hidden: true })
    const followers = [followUntil(start, 5), followUntil(null, 5, 20)]
    await sleep(100)
    await write(sqlOf(late), 'late-2')
    await inTransaction((sql) => write(sql, 'early-3'))
    await late.query('COMMIT')
    wakeReaders(tenant)
    const order = ['late-1', 'late-2', 'early-1', 'early-2', 'early-3']
    expect(namesOf(await readUntil(start, 5))).toEqual(order)
    for (const follower of followers) expect(namesOf(await follower)).toEqual(order)
  })

  test('that rolls back leaves no gap and no entry', async () => {
    const start = await freshTenant()
    const late = await connect()
    await late.query('BEGIN')
    await write(sqlOf(late), 'never')
    await inTransaction((sql) => write(sql, 'kept'))
    const follower = followUntil(start, 1)
    await late.query('ROLLBACK')
    expect(namesOf(await follower)).toEqual(['kept'])
  })

  test('of another database of the cluster delays entries, and loses none', async () => {
    const start = await freshTenant()
    const elsewhere = await connect(database.kind === 'postgres' ? database.adminUrl : '')
    await elsewhere.query('BEGIN')
    await elsewhere.query('SELECT pg_current_xact_id()')
    await inTransaction((sql) => write(sql, 'a', 'b'))
    wakeReaders(tenant)
    const arrived: LogEvent[] = []
    const follower = followUntil(start, 3).then((events) => arrived.push(...events))
    await sleep(400)
    expect(arrived).toEqual([])
    expect((await readEvents(tenant, start, 10)).hidden).toBe(true)
    await elsewhere.query('ROLLBACK')
    await inTransaction((sql) => write(sql, 'c'))
    await follower
    expect(namesOf(arrived)).toEqual(['a', 'b', 'c'])
  })

  test('that only reads delays nothing', async () => {
    const start = await freshTenant()
    const reader = await connect()
    await reader.query('BEGIN')
    await reader.query('SELECT * FROM "Tenant"')
    await inTransaction((sql) => write(sql, 'seen'))
    expect(namesOf(await readUntil(start, 1))).toEqual(['seen'])
    await reader.query('ROLLBACK')
  })
})

describe('readers', () => {
  test('see the same complete order while 50 writers write at once', async () => {
    const start = await freshTenant()
    const total = 50 * 4 * 2
    const readers = [
      followUntil(start, total),
      followUntil(null, total, 1),
      followUntil(start, total, 3),
      readUntil(start, total),
    ]
    await sleep(50) // the follower from "now on" has joined
    await Promise.all(
      Array.from({ length: 50 }, async (_, writer) => {
        for (let round = 0; round < 4; round++) {
          await inTransaction(async (sql) => {
            await write(sql, `${writer}.${round}.a`)
            if (isPostgres) await sleep((writer * 7 + round) % 5)
            await write(sql, `${writer}.${round}.b`)
          })
          wakeReaders(tenant)
        }
      }),
    )
    const [first, ...others] = (await Promise.all(readers)).map(namesOf)
    expect(new Set(first).size).toBe(total)
    for (const other of others) expect(other).toEqual(first)
  })

  test('who come, go and come back at their position miss nothing', async () => {
    const start = await freshTenant()
    const writing = (async () => {
      for (let index = 0; index < 60; index++) {
        await inTransaction((sql) => write(sql, String(index)))
        wakeReaders(tenant)
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
    expect(namesOf(seen)).toEqual(Array.from({ length: 60 }, (_, index) => String(index)))
  })

  test('who fell behind what the process keeps read the rest from the log', async () => {
    const start = await freshTenant()
    const controller = new AbortController()
    const slow = followEvents(tenant, start, controller.signal)
    await inTransaction((sql) => write(sql, 'first'))
    wakeReaders(tenant)
    await slow.next()
    const names = Array.from({ length: 2600 }, (_, index) => String(index))
    await inTransaction((sql) => write(sql, ...names))
    wakeReaders(tenant)
    await followUntil(
      (await readEvents(tenant, start, 1)).events.map(({ position }) => decodePosition(position))[0] ?? null,
      2600,
    )
    const seen: string[] = []
    while (seen.length < 2600) {
      const { value } = (await slow.next()) as IteratorResult<Followed>
      if (value?.kind === 'event') seen.push(value.event.subjectIds[0] ?? '')
    }
    controller.abort()
    expect(seen).toEqual(names)
  })

  test('who stop do so at once, also while nothing happens', async () => {
    const start = await freshTenant()
    const controller = new AbortController()
    const idle = followEvents(tenant, start, controller.signal).next()
    await sleep(50)
    controller.abort()
    expect(await Promise.race([idle, sleep(500)])).toEqual({ done: true, value: undefined })
  })

  test('who come back from before what retention kept are told so, and go on from there', async () => {
    const start = await freshTenant()
    await inTransaction((sql) => write(sql, 'a', 'b', 'c'))
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

const programs = await serverPrograms()

describe.skipIf(!isPostgres || !programs)('a dump that is restored into another cluster', () => {
  test('opens a new era: a reader with an old position skips and repeats nothing', async () => {
    const start = await freshTenant()
    await inTransaction((sql) => write(sql, '1', '2', '3', '4'))
    const events = (await readUntil(start, 4)).slice(0, 2)
    const at = decodePosition(events[1]?.position ?? '')
    const cluster = await startCluster(programs as string)
    try {
      await dumpAndRestore(programs as string, process.env.DATABASE_URL ?? '', cluster.url)
      expect(await migrate({ connectionString: cluster.url })).toEqual([])
      const restored = new pg.Client({ connectionString: cluster.url })
      await restored.connect()
      try {
        const sql = sqlOf(restored)
        const eras = await restored.query('SELECT "era" FROM "_vestibule_cluster"')
        expect(eras.rows).toEqual([{ era: at.era + 1 }])
        const { rows: xids } = await restored.query('SELECT pg_current_xact_id()::text AS xid')
        // What makes it hard: the new cluster's transactions are older than those of the old one.
        expect(BigInt(xids[0].xid)).toBeLessThan(at.xid)
        await write(sql, '5')
        await write(sql, '6')
        const { rows } = await selectEvents(sql, tenant, at, 100)
        expect(rows.map(({ subjectIds }) => subjectIds[0])).toEqual(['3', '4', '5', '6'])
        const newest = rows.at(-1)
        const after = { era: newest?.era ?? 0, xid: BigInt(newest?.xid ?? 0), seq: BigInt(newest?.seq ?? 0) }
        await write(sql, '7')
        expect(
          (await selectEvents(sql, tenant, after, 100)).rows.map(({ subjectIds }) => subjectIds[0]),
        ).toEqual(['7'])
        await migrate({ connectionString: cluster.url })
        expect((await restored.query('SELECT "era" FROM "_vestibule_cluster"')).rows).toEqual([
          { era: at.era + 1 },
        ])
      } finally {
        await restored.end()
      }
    } finally {
      await cluster.stop()
    }
  })
})
