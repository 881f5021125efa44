import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { type EmbeddedDatabase, openEmbedded } from '../src/embedded.ts'
import { findHolder, takeLock } from '../src/embedded-lock.ts'

// A first start runs initdb: 2 to 5 s on two busy cores.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

/** Where a database was made and closed, to be copied: what initdb takes seconds for. */
let made: string
/** What came of a transaction that did nothing since this file began, and of who came behind it. */
let idled: Promise<[Error, pg.QueryResult]>
let endIdle: () => Promise<void>
let directory: string
let cleanUps: (() => unknown)[] = []

beforeAll(async () => {
  made = await mkdtemp(join(tmpdir(), 'vestibule-test-'))
  await (await openEmbedded(made)).close()
  await startIdle()
})
afterAll(async () => {
  await endIdle()
  await rm(made, { recursive: true, force: true })
})

/** Has a database of its own idle, while other tests go on. */
async function startIdle(): Promise<void> {
  const path = join(made, 'idle')
  await makeBefore(path)
  const embedded = await openEmbedded(path)
  const [a, b] = [new pg.Client(embedded.connection), new pg.Client(embedded.connection)]
  await Promise.all([a.connect(), b.connect()])
  await a.query('BEGIN')
  const ended = new Promise<Error>((resolve) => a.on('error', resolve))
  idled = Promise.all([ended, b.query('SELECT 1 AS one')])
  endIdle = async () => {
    await b.end()
    await embedded.close()
  }
}

/** Has the next that opens `path` find the database made. */
const makeBefore = (path = directory) => cp(join(made, 'db'), join(path, 'db'), { recursive: true })

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'vestibule-test-'))
})

afterEach(async () => {
  for (const cleanUp of cleanUps.reverse()) await cleanUp()
  cleanUps = []
  await rm(directory, { recursive: true, force: true })
})

async function open(path = directory): Promise<EmbeddedDatabase> {
  const embedded = await openEmbedded(path)
  cleanUps.push(() => embedded.close())
  return embedded
}

async function connectTo(embedded: EmbeddedDatabase, config: pg.ClientConfig = {}): Promise<pg.Client> {
  const client = new pg.Client({ ...embedded.connection, ...config })
  client.on('error', () => {}) // the tests cut connections on purpose
  await client.connect()
  cleanUps.push(() => client.end())
  return client
}

/** A process of its own; `lines` grows as it prints. */
function startChild(name: string, rows: number) {
  const script = join(import.meta.dirname, 'support/embedded-child.ts')
  const child = spawn(process.execPath, ['--import', 'tsx', script, directory, name, `${rows}`], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines: string[] = []
  const ended = once(child, 'close')
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line))
  cleanUps.push(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const until = async (seen: (lines: string[]) => boolean) => {
    while (!seen(lines)) {
      if (child.exitCode !== null)
        throw new Error(`${name} exited with ${child.exitCode}: ${lines.slice(-3).join('; ')}`)
      await sleep(5)
    }
  }
  const written = () => lines.filter((line) => line.startsWith('wrote ')).map((line) => line.slice(6))
  return { child, lines, ended, until, written }
}

async function storedIds(embedded: EmbeddedDatabase): Promise<string[]> {
  const client = await connectTo(embedded)
  return (await client.query('SELECT id FROM row ORDER BY id')).rows.map((row) => row.id)
}

const isDone = (lines: string[]) => lines.includes('done')

describe('one process', () => {
  test('keeps rows over close and reopen, and closes twice without harm', async () => {
    await makeBefore()
    const first = await open()
    const client = await connectTo(first)
    await client.query('CREATE TABLE row (id text)')
    await client.query(`INSERT INTO row VALUES ('kept')`)
    await first.close()
    await first.close()
    const second = await open()
    expect(second.owner).toBe(true)
    expect(await storedIds(second)).toEqual(['kept'])
  })

  test('makes everything readable by its user only', async () => {
    const { connection } = await open(join(directory, 'new'))
    const paths = (await readdir(join(directory, 'new'), { recursive: true })).map((name) =>
      join(directory, 'new', name),
    )
    const open_ = await Promise.all(
      paths.map(async (path) => ((await stat(path)).mode & 0o077 ? path : null)),
    )
    expect(open_.filter(Boolean)).toEqual([])
    expect((await stat(join(directory, 'new'))).mode & 0o777).toBe(0o700)
    expect((await stat(join(connection.host, '.s.PGSQL.5432'))).mode & 0o777).toBe(0o600)
  })

  test('a second opening in the same process shares the first', async () => {
    await makeBefore()
    const [first, second] = await Promise.all([open(), open()])
    expect([first.owner, second.owner].sort()).toEqual([false, true])
    expect(second.connection).toEqual(first.connection)
  })

  test('a directory too long for a socket gets a private one under the temporary directory', async () => {
    const long = join(directory, 'x'.repeat(100))
    await makeBefore(long)
    const first = await open(long)
    expect(first.connection.host.startsWith(join(tmpdir(), 'vestibule-'))).toBe(true)
    cleanUps.unshift(() => rm(first.connection.host, { recursive: true }))
    expect((await open(long)).connection).toEqual(first.connection)
    await chmod(first.connection.host, 0o755)
    await first.close()
    await expect(openEmbedded(long)).rejects.toThrow('must be a directory of this user, mode 0700')
  })

  test('a database cut off while it was first made is made anew', async () => {
    await makeBefore()
    const first = await open()
    await first.close()
    await rm(join(directory, 'db/vestibule.ready'))
    await rm(join(directory, 'db/global'), { recursive: true })
    const client = await connectTo(await open())
    expect((await client.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
  })
})

describe('many connections', () => {
  let shared: string
  let embedded: EmbeddedDatabase

  beforeAll(async () => {
    shared = await mkdtemp(join(tmpdir(), 'vestibule-test-'))
    await makeBefore(shared)
    embedded = await openEmbedded(shared)
  })

  afterEach(async () => {
    const client = await connectTo(embedded)
    await client.query('DROP TABLE IF EXISTS row, counter')
    await client.end()
  })

  afterAll(async () => {
    await embedded.close()
    await rm(shared, { recursive: true, force: true })
  })

  test('statements of one name, sent at once, stay apart', async () => {
    const [a, b] = [await connectTo(embedded), await connectTo(embedded)]
    for (let i = 0; i < 20; i++) {
      const [one, two] = await Promise.all([
        a.query({ name: 's', text: 'SELECT $1::text AS one', values: [`a${i}`] }),
        b.query({ name: 's', text: 'SELECT $1::text AS two', values: [`b${i}`] }),
      ])
      expect([one.rows, two.rows]).toEqual([[{ one: `a${i}` }], [{ two: `b${i}` }]])
    }
    await b.end()
    const c = await connectTo(embedded)
    expect((await c.query(`SELECT count(*)::int FROM pg_prepared_statements`)).rows).toEqual([{ count: 1 }])
    expect((await a.query({ name: 's', text: 'SELECT $1::text AS one', values: ['x'] })).rows).toEqual([
      { one: 'x' },
    ])
  })

  test('a batch that arrives in pieces is not mixed with another one', async () => {
    const [a, b] = [await connectTo(embedded), await connectTo(embedded)]
    const large = 'x'.repeat(3_000_000)
    const [one, two] = await Promise.all([
      a.query('SELECT length($1::text) AS one', [large]),
      b.query('SELECT $1::text AS two', [large]),
    ])
    expect(one.rows).toEqual([{ one: large.length }])
    expect(two.rows).toEqual([{ two: large }])
  })

  test('settings belong to the connection that made them, at its start or later', async () => {
    const a = await connectTo(embedded, { statement_timeout: 4000, options: '-c timezone=Asia/Tokyo' })
    const b = await connectTo(embedded)
    const settings = `SELECT current_setting('statement_timeout') AS timeout, current_setting('timezone') AS zone`
    await b.query(`SET timezone = 'Europe/Berlin'`)
    for (let i = 0; i < 2; i++) {
      expect((await a.query(settings)).rows).toEqual([{ timeout: '4s', zone: 'Asia/Tokyo' }])
      expect((await b.query(settings)).rows).toEqual([{ timeout: '0', zone: 'Europe/Berlin' }])
    }
    await a.query(`SELECT set_config('statement_timeout', '7s', false)`)
    await b.query('SELECT 1')
    expect((await a.query(settings)).rows).toEqual([{ timeout: '7s', zone: 'Asia/Tokyo' }])
  })

  test('a transaction is not interleaved with other connections', async () => {
    const [a, b] = [await connectTo(embedded), await connectTo(embedded)]
    await a.query('CREATE TABLE row (id text)')
    await a.query('BEGIN')
    await a.query(`INSERT INTO row VALUES ('a')`)
    const order: string[] = []
    const other = b.query('SELECT id FROM row').then((result) => {
      order.push('b')
      return result.rows
    })
    await sleep(50)
    await a.query('ROLLBACK').then(() => order.push('a'))
    expect(await other).toEqual([])
    expect(order).toEqual(['a', 'b'])
  })

  test('20 connections that count in transactions lose no update', async () => {
    const clients = await Promise.all(Array.from({ length: 20 }, () => connectTo(embedded)))
    await clients[0]?.query('CREATE TABLE counter AS SELECT 0 AS value')
    await Promise.all(
      clients.map(async (client) => {
        for (let i = 0; i < 5; i++) {
          await client.query('BEGIN')
          const { value } = (await client.query('SELECT value FROM counter')).rows[0]
          await client.query('UPDATE counter SET value = $1', [value + 1])
          await client.query('COMMIT')
        }
      }),
    )
    const client = await connectTo(embedded)
    expect((await client.query('SELECT value FROM counter')).rows).toEqual([{ value: 100 }])
  })

  test.each([
    ['in a transaction', [`INSERT INTO row VALUES ('lost')`]],
    ['in a failed transaction', [`INSERT INTO row VALUES ('lost')`, 'SELECT 1/0']],
  ])('a client that vanishes %s is rolled back, and the next goes on', async (_, statements) => {
    const [a, b] = [await connectTo(embedded), await connectTo(embedded)]
    await a.query('CREATE TABLE row (id text)')
    await a.query('BEGIN')
    for (const statement of statements) await a.query(statement).catch(() => {}) // the division is meant to fail
    const next = b.query(`INSERT INTO row VALUES ('next') RETURNING id`)
    ;(a as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy()
    expect((await next).rows).toEqual([{ id: 'next' }])
    await b.query('ROLLBACK') // would undo it, had it joined the old transaction
    expect(await storedIds(embedded)).toEqual(['next'])
  })

  test('a setting that is none refuses the connection with its reason', async () => {
    await expect(
      connectTo(embedded, { options: '-c nonsense=1' }).then((a) => a.query('SELECT 1')),
    ).rejects.toMatchObject({
      code: 'XX000',
      message: expect.stringContaining('unrecognized configuration parameter "nonsense"'),
    })
    const b = await connectTo(embedded)
    expect((await b.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
  })

  test('COPY FROM STDIN, which PGlite would wait for without end, is an error', async () => {
    const a = await connectTo(embedded)
    await a.query('CREATE TABLE row (id text)')
    const reason = 'COPY from stdin failed: not supported by the embedded database'
    await expect(a.query('COPY row FROM STDIN')).rejects.toThrow(reason)
    await expect(a.query({ name: 'copy', text: 'COPY row\nFROM stdin' })).rejects.toThrow(reason)
    const startedAt = Date.now()
    await (await connectTo(embedded)).query('SELECT 1')
    expect(Date.now() - startedAt).toBeLessThan(5000) // node-postgres's own CopyFail does not hold the others up
    expect((await a.query(`SELECT 'copy from stdin' AS text`)).rows).toEqual([{ text: 'copy from stdin' }])
    expect((await a.query('SELECT $1::text AS text', ['x'])).rows).toEqual([{ text: 'x' }])
  })

  test('an error leaves the connection and the others usable', async () => {
    const [a, b] = [await connectTo(embedded), await connectTo(embedded)]
    await expect(a.query('SELECT $1::int', ['no number'])).rejects.toThrow('invalid input syntax')
    await expect(a.query('SELEC')).rejects.toThrow('syntax error')
    expect((await b.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
    expect((await a.query('SELECT 2 AS two')).rows).toEqual([{ two: 2 }])
  })
})

describe('two processes', () => {
  test('started at once: one owns the database, both write, all rows are there', async () => {
    const children = [startChild('a', 100), startChild('b', 100), startChild('c', 100)]
    await Promise.all(children.map(({ until }) => until(isDone)))
    expect(children.map(({ lines }) => lines[0]?.split(' ')[1]).sort()).toEqual(['false', 'false', 'true'])
    for (const { child } of children) child.stdin?.end()
    await Promise.all(children.map(({ ended }) => ended))
    expect((await storedIds(await open())).length).toBe(300)
  })

  test('after kill -9 in a burst of writes nothing acknowledged is missing', async () => {
    await makeBefore()
    const acknowledged: string[] = []
    for (const name of ['first', 'second']) {
      const writer = startChild(name, 1_000_000)
      await writer.until(() => writer.written().length > 300)
      writer.child.kill('SIGKILL')
      await writer.ended
      expect(writer.lines[0]).toMatch('owner true')
      acknowledged.push(...writer.written())
    }
    const stored = new Set(await storedIds(await open()))
    expect(acknowledged.filter((id) => !stored.has(id))).toEqual([])
  })

  test('several that find a killed owner at once: one takes over', async () => {
    await makeBefore()
    const owner = startChild('owner', 10)
    await owner.until(isDone)
    owner.child.kill('SIGKILL')
    await owner.ended
    const successors = ['a', 'b', 'c', 'd'].map((name) => startChild(name, 20))
    await Promise.all(successors.map(({ until }) => until(isDone)))
    expect(successors.filter(({ lines }) => lines[0]?.startsWith('owner true'))).toHaveLength(1)
    for (const { child } of successors) child.stdin?.end()
    await Promise.all(successors.map(({ ended }) => ended))
    expect((await storedIds(await open())).length).toBe(90)
  })

  test('a client process killed in a transaction leaves the owner working', async () => {
    await makeBefore()
    const embedded = await open()
    const writer = startChild('client', 1_000_000)
    await writer.until(() => writer.written().length > 50)
    writer.child.kill('SIGKILL')
    await writer.ended
    expect(writer.lines[0]).toMatch('owner false')
    expect((await storedIds(embedded)).length).toBeGreaterThan(50)
  })
})

test('a transaction that idles 10 s is ended, so that the others can go on', async () => {
  const [error, next] = await idled
  expect(error).toMatchObject({ code: '25P03' })
  expect(next.rows).toEqual([{ one: 1 }])
})

describe('the lock', () => {
  test('20 racers: one takes it, round after round, released or stale', async () => {
    for (let round = 0; round < 20; round++) {
      const attempts = await Promise.all(Array.from({ length: 20 }, () => takeLock(directory, '/nowhere')))
      const winners = attempts.filter((attempt) => attempt.taken)
      expect(winners.length).toBe(1)
      if (round % 2) await winners[0]?.release()
      else await rewriteHolder({ started: 'an earlier process/1' })
    }
    expect((await readdir(directory)).filter((name) => name.startsWith('lock'))).toHaveLength(1)
  })

  test('a recycled pid does not count', async () => {
    await takeLock(directory, '/nowhere')
    expect((await takeLock(directory, '/nowhere')).taken).toBe(false)
    await rewriteHolder({ started: 'an earlier process/1' })
    expect((await takeLock(directory, '/nowhere')).taken).toBe(true)
  })

  test('a live holder that does not answer is named in the error', async () => {
    await takeLock(directory, join(directory, 'socket'))
    await expect(openEmbedded(directory, 200)).rejects.toThrow(
      `belongs to process ${process.pid}, which does not answer`,
    )
  })

  async function rewriteHolder(change: object): Promise<void> {
    const name = (await readdir(directory)).find((entry) => entry.startsWith('lock.')) ?? ''
    const content = JSON.parse(await readFile(join(directory, name), 'utf8'))
    await writeFile(join(directory, name), JSON.stringify({ ...content, ...change }))
    expect(await findHolder(directory)).toMatchObject(change)
  }
})
