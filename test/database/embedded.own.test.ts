import {
  chmod,
  chown,
  lstat,
  mkdir,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'
import { takeLock } from '../../src/database/embedded/directory-lock.ts'
import { openEmbedded } from '../../src/database/embedded/open.ts'
import {
  cleanUp,
  connectTo,
  copyDatabase,
  findPostmaster,
  findWatcher,
  isRunning,
  listStoredIds,
  open,
  startChild,
  useDirectories,
} from '../support/embedded-processes.ts'
import { hasServices } from '../support/services.ts'

// A first start runs initdb: 1 s, and several on two busy cores.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const isRoot = process.getuid?.() === 0
/** `nobody` on Debian. */
const NOBODY = 65_534

const directory = useDirectories()

describe.skipIf(hasServices)('one process', () => {
  test('keeps rows over close and reopen, and accepts a second close', async () => {
    await copyDatabase()
    const first = await open()
    const client = await connectTo(first)
    await client.query('CREATE TABLE row (id text)')
    await client.query(`INSERT INTO row VALUES ('kept')`)
    await first.close()
    await first.close()
    const second = await open()
    expect(second.owner).toBe(true)
    expect(await listStoredIds(second)).toEqual(['kept'])
  })

  test('runs PostgreSQL 18 with fsync, checksums, UTF8 and the builtin locale, on a Unix socket only', async () => {
    const client = await connectTo(await open())
    const { rows } = await client.query(`
      SELECT current_setting('server_version_num')::int / 10000 AS version, current_setting('fsync') AS fsync,
             current_setting('data_checksums') AS checksums, current_setting('server_encoding') AS encoding,
             current_setting('listen_addresses') AS addresses, datlocprovider::text || ' ' || datlocale AS locale,
             lower('ÄÖ' COLLATE "und-x-icu") AS icu
      FROM pg_database WHERE datname = current_database()`)
    expect(rows).toEqual([
      {
        version: 18,
        fsync: 'on',
        checksums: 'on',
        encoding: 'UTF8',
        addresses: '',
        locale: 'b C.UTF-8',
        icu: 'äö',
      },
    ])
  })

  test('lets 60 connections write at once', async () => {
    await copyDatabase()
    const embedded = await open()
    const clients = await Promise.all(Array.from({ length: 60 }, () => connectTo(embedded)))
    await clients[0]?.query('CREATE TABLE counter AS SELECT 0 AS value')
    await Promise.all(clients.map((client) => client.query('UPDATE counter SET value = value + 1')))
    expect((await clients[0]?.query('SELECT value FROM counter'))?.rows).toEqual([{ value: 60 }])
  })

  test('shares one server between two openings', async () => {
    await copyDatabase()
    const [first, second] = await Promise.all([open(), open()])
    expect([first.owner, second.owner].sort()).toEqual([false, true])
    expect(second.connection).toEqual(first.connection)
  })

  test('lets other users of the machine read nothing', async () => {
    const { connection } = await open(join(directory.path(), 'new'))
    const top = join(directory.path(), 'new')
    const below = (await readdir(top, { recursive: true })).map((name) => join(top, name))
    const modes = await Promise.all([top, ...below].map(async (path) => (await lstat(path)).mode & 0o067))
    expect(modes.filter((mode) => mode !== 0)).toEqual([])
    expect((await stat(connection.host)).mode & 0o777).toBe(0o700)
  })

  test('puts the socket of a long path into a private directory below the temporary directory', async () => {
    const long = join(directory.path(), 'x'.repeat(100))
    const first = await open(long)
    expect(first.connection.host.startsWith(join(tmpdir(), 'vestibule-'))).toBe(true)
    cleanUp(() => rm(first.connection.host, { recursive: true, force: true }))
    expect((await open(long)).connection).toEqual(first.connection)
    await chmod(first.connection.host, 0o755)
    await first.close()
    await expect(openEmbedded(long)).rejects.toThrow(/must be a directory of .*, mode 0700/)
  })

  test('makes a database anew that was cut off during its first start', async () => {
    await mkdir(join(directory.path(), 'postgres/data.draft'), { recursive: true })
    await writeFile(join(directory.path(), 'postgres/data.draft/PG_VERSION'), '18\n')
    expect((await open()).owner).toBe(true)
    expect(await readdir(join(directory.path(), 'postgres'))).not.toContain('data.draft')
  })

  test('rejects a directory that PGlite wrote and says how to export it', async () => {
    await mkdir(join(directory.path(), 'db'))
    await writeFile(join(directory.path(), 'db/PG_VERSION'), '17\n')
    await expect(open()).rejects.toThrow(/was written by PGlite.*"vestibule users export.*rename or delete/)
    await rm(join(directory.path(), 'db'), { recursive: true })
    expect((await open()).owner).toBe(true)
  })

  test('starts PostgreSQL again when it ends by itself, with every committed row', async () => {
    await copyDatabase()
    const embedded = await open()
    const client = await connectTo(embedded)
    await client.query('CREATE TABLE row (id text)')
    await client.query(`INSERT INTO row VALUES ('kept')`)
    const postmaster = (await findPostmaster()) ?? 0
    process.kill(postmaster, 'SIGKILL')
    await expect.poll(() => listStoredIds(embedded).catch(() => null), { timeout: 20_000 }).toEqual(['kept'])
    expect(await findPostmaster()).not.toBe(postmaster)
    await embedded.close()
    expect(await findPostmaster()).toBeNull()
  })

  test('reports the log of a PostgreSQL that does not start', async () => {
    await copyDatabase()
    await (await open()).close()
    await expect(openEmbedded(directory.path(), { settings: ['nonsense=1'] })).rejects.toThrow(
      /did not start: .*unrecognized configuration parameter "nonsense"/,
    )
    expect((await open()).owner).toBe(true)
  })
})

describe.skipIf(hasServices)('several processes', () => {
  test('started at once share one server, and all rows are stored', async () => {
    const children = ['a', 'b', 'c'].map((name) => startChild(name, 100))
    await Promise.all(children.map(({ untilDone }) => untilDone()))
    expect(children.filter(({ isOwner }) => isOwner())).toHaveLength(1)
    await Promise.all(children.map(({ finish }) => finish()))
    expect(await listStoredIds(await open())).toHaveLength(300)
  })

  test('rejects the start when the process that holds the directory does not answer', async () => {
    await takeLock(directory.path())
    await expect(openEmbedded(directory.path(), { ownerWaitMs: 200 })).rejects.toThrow(
      `belongs to process ${process.pid}, which does not answer`,
    )
  })

  test('rejects the start of a server while another process runs the database, and lets it own the database afterwards', async () => {
    await copyDatabase()
    const command = startChild('command', 10)
    await command.untilDone()
    await expect(openEmbedded(directory.path(), { isShared: false, ownerWaitMs: 200 })).rejects.toThrow(
      `Another server or command (process ${command.child.pid}) runs on`,
    )
    const server = openEmbedded(directory.path(), { isShared: false })
    await command.finish()
    cleanUp((await server).close)
    expect((await server).owner).toBe(true)
  })

  test('leaves the server running when a process that shares it is killed in a transaction', async () => {
    await copyDatabase()
    const embedded = await open()
    const writer = startChild('client', 1_000_000)
    await writer.until(() => writer.written().length > 50)
    await writer.kill()
    expect(writer.isOwner()).toBe(false)
    expect((await listStoredIds(embedded)).length).toBeGreaterThan(50)
  })
})

describe.skipIf(hasServices)('kill -9 of the process that started the server', () => {
  test('ends the server', async () => {
    await copyDatabase()
    const owner = startChild('owner', 10)
    await owner.untilDone()
    const postmaster = await findPostmaster()
    expect(isRunning(postmaster ?? 0)).toBe(true)
    await owner.kill()
    await expect.poll(() => isRunning(postmaster ?? 0), { timeout: 10_000 }).toBe(false)
    expect(await findPostmaster()).toBeNull()
  })

  test('in a burst of writes loses no acknowledged row', async () => {
    await copyDatabase()
    const acknowledged: string[] = []
    for (const name of ['first', 'second']) {
      const writer = startChild(name, 1_000_000)
      await writer.until(() => writer.written().length > 300)
      await writer.kill()
      expect(writer.isOwner()).toBe(true)
      acknowledged.push(...writer.written())
    }
    const stored = new Set(await listStoredIds(await open()))
    expect(acknowledged.filter((id) => !stored.has(id))).toEqual([])
  })

  test('lets one of several new processes take over', async () => {
    await copyDatabase()
    const owner = startChild('owner', 10)
    await owner.untilDone()
    await owner.kill()
    const successors = ['a', 'b', 'c', 'd'].map((name) => startChild(name, 20))
    await Promise.all(successors.map(({ untilDone }) => untilDone()))
    expect(successors.filter(({ isOwner }) => isOwner())).toHaveLength(1)
    await Promise.all(successors.map(({ finish }) => finish()))
    expect(await listStoredIds(await open())).toHaveLength(90)
  })

  // /proc names the processes.
  describe.runIf(process.platform === 'linux')('together with others', () => {
    test('ends the orphaned server at the next start after its watcher is killed too', async () => {
      await copyDatabase()
      const owner = startChild('owner', 10)
      await owner.untilDone()
      const postmaster = (await findPostmaster()) ?? 0
      // Stopped, so that PostgreSQL sees no child end and does not restart its backends.
      const watcher = await findWatcher(postmaster)
      process.kill(watcher, 'SIGSTOP')
      cleanUp(() => process.kill(watcher, 'SIGKILL'))
      await owner.kill()
      await sleep(300)
      expect(isRunning(postmaster)).toBe(true)
      const next = await open()
      expect(next.owner).toBe(true)
      await expect.poll(() => isRunning(postmaster), { timeout: 10_000 }).toBe(false)
      expect(await listStoredIds(next)).toHaveLength(10)
    })

    test('recovers every acknowledged row after PostgreSQL is killed too', async () => {
      await copyDatabase()
      const writer = startChild('writer', 1_000_000)
      await writer.until(() => writer.written().length > 300)
      process.kill((await findPostmaster()) ?? 0, 'SIGKILL')
      await writer.kill()
      const stored = new Set(await listStoredIds(await open()))
      expect(writer.written().filter((id) => !stored.has(id))).toEqual([])
    })
  })

  test('leaves a pid file that does not stop the next start, whatever process has that pid now', async () => {
    await copyDatabase()
    const embedded = await open()
    await embedded.close()
    const home = await realpath(join(directory.path(), 'postgres'))
    const lines = [process.pid, join(home, 'data'), 0, 5432, embedded.connection.host, '', '']
    await writeFile(join(home, 'data/postmaster.pid'), lines.join('\n'))
    await writeFile(join(embedded.connection.host, '.s.PGSQL.5432.lock'), lines.join('\n'))
    expect((await open()).owner).toBe(true)
    expect(isRunning(process.pid)).toBe(true)
  })
})

describe.runIf(isRoot && !hasServices)('as root', () => {
  test('runs PostgreSQL as another user, who owns the data and the socket only', async () => {
    await copyDatabase()
    const { connection } = await open()
    const owner = async (path: string) => (await stat(path)).uid
    const data = await owner(join(directory.path(), 'postgres/data'))
    expect(data).not.toBe(0)
    expect(await owner(connection.host)).toBe(data)
    expect(await owner(join(directory.path(), 'postgres'))).toBe(0)
    const status = await readFile(`/proc/${await findPostmaster()}/status`, 'utf8')
    expect(/^Uid:\s+(\d+)/m.exec(status)?.[1]).toBe(`${data}`)
  })

  test('keeps the cluster in /var/lib when the user of PostgreSQL cannot enter the directory', async () => {
    const below = join(directory.path(), 'private/vestibule')
    await mkdir(below, { recursive: true })
    await chmod(join(directory.path(), 'private'), 0o700)
    const child = startChild('first', 10, { directory: below })
    await child.untilDone()
    const home = await realpath(join(below, 'postgres'))
    expect(home).toMatch(/^\/var\/lib\/vestibule-/)
    cleanUp(() => rm(home, { recursive: true, force: true }))
    await child.kill()
    const again = await open(below)
    expect(await listStoredIds(again)).toHaveLength(10)
    await again.close()
    await rm(home, { recursive: true })
    await expect(openEmbedded(below)).rejects.toThrow(/is a link to \/var\/lib.*no longer is/)
  })

  test('serves a process without privileges in the same way', async () => {
    const own = join(directory.path(), 'own')
    await mkdir(own)
    await chown(own, NOBODY, NOBODY)
    const child = startChild('plain', 10, { directory: own, uid: NOBODY })
    await child.untilDone()
    expect((await stat(own)).mode & 0o777).toBe(0o755)
    await child.finish()
    // Root continues with the user that it finds.
    expect(await listStoredIds(await open(own))).toHaveLength(10)
    expect((await stat(join(own, 'postgres/data'))).uid).toBe(NOBODY)
  })
})
