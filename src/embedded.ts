import { chmod, mkdir, readdir, realpath, rm, stat, writeFile } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PGlite } from '@electric-sql/pglite'
import {
  accepts,
  findHolder,
  makeSocketDirectory,
  SOCKET_NAME,
  SOCKET_PORT,
  takeLock,
} from './embedded-lock.ts'

export type EmbeddedDatabase = {
  /** what node-postgres needs: `host` is the socket's directory */
  connection: { host: string; port: number; user: string; database: string }
  /** false when another process serves it */
  owner: boolean
  close(): Promise<void>
}

// A first start runs initdb: 3 to 5 s on a busy laptop.
const OWNER_WAIT_MS = 30_000
const OWNER_POLL_MS = 50
// As every connection asks of PostgreSQL (design, section 4); PGlite has no timers of its own.
const IDLE_IN_TRANSACTION_MS = 10_000
// Far above what the platform sends; a length beyond it is not our protocol.
const MESSAGE_MAX_BYTES = 256 * 1024 * 1024

/** Opens the embedded database below `directory` and serves it on a Unix socket; when a live process already holds it,
 *  returns a connection to that one's socket. Throws when that process does not accept within `ownerWaitMs`.
 *  Development and trial only: survives kill -9 of this process, not a power cut (PGlite runs with fsync off). */
export async function openEmbedded(
  directory: string,
  ownerWaitMs = OWNER_WAIT_MS,
): Promise<EmbeddedDatabase> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const root = await realpath(directory)
  const deadline = Date.now() + ownerWaitMs
  for (;;) {
    // Asked before the pid, because the holder may live where our /proc does not show it (another container).
    const holder = await findHolder(root)
    if (holder && !holder.released && (await accepts(holder.socketDirectory))) {
      return { connection: connectionTo(holder.socketDirectory), owner: false, close: async () => {} }
    }
    const socketDirectory = await makeSocketDirectory(root)
    const lock = await takeLock(root, socketDirectory)
    if (lock.taken) {
      try {
        return await own(root, socketDirectory, lock.release)
      } catch (error) {
        await lock.release()
        throw error
      }
    }
    if (Date.now() > deadline) {
      throw new Error(
        `The embedded database in ${root} belongs to process ${lock.holder.pid}, which does not answer on ` +
          `${join(lock.holder.socketDirectory, SOCKET_NAME)}. Stop that process, or set DATABASE_URL.`,
      )
    }
    await sleep(OWNER_POLL_MS)
  }
}

async function own(root: string, host: string, release: () => Promise<void>): Promise<EmbeddedDatabase> {
  const database = await openDatabase(join(root, 'db'))
  const path = join(host, SOCKET_NAME)
  await rm(path, { force: true }) // left by a killed holder; the lock says that nobody serves it
  const gate = createGate(database)
  const server = createServer(gate.accept)
  try {
    await listen(server, path)
    await chmod(path, 0o600)
  } catch (error) {
    await database.close()
    throw error
  }
  let closed: Promise<void> | undefined
  const shutDown = async () => {
    const stopped = new Promise((resolve) => server.close(resolve))
    await gate.close()
    await stopped
    await database.close()
    await release()
  }
  return { connection: connectionTo(host), owner: true, close: () => (closed ??= shutDown()) }
}

/** PGlite on `path`. A directory without our mark was cut off while initdb's files were copied, before anybody could
 *  write to it, and is made anew. */
async function openDatabase(path: string): Promise<PGlite> {
  const mark = join(path, 'vestibule.ready')
  const fresh = !(await exists(mark))
  if (fresh) await rm(path, { recursive: true, force: true })
  await mkdir(path, { recursive: true, mode: 0o700 })
  const { PGlite } = await import('@electric-sql/pglite')
  // Not relaxed: a commit's write-ahead log is handed to the kernel before the commit is acknowledged.
  const database = await PGlite.create({ dataDir: path, relaxedDurability: false })
  if (fresh) {
    await restrict(path) // initdb's files arrive as 0666 less the umask
    await writeFile(mark, '', { mode: 0o600 })
  }
  return database
}

async function restrict(path: string): Promise<void> {
  const entries = await readdir(path, { withFileTypes: true })
  await chmod(path, 0o700)
  for (const entry of entries) {
    const child = join(path, entry.name)
    if (entry.isDirectory()) await restrict(child)
    else await chmod(child, 0o600)
  }
}

const connectionTo = (host: string): EmbeddedDatabase['connection'] => ({
  host,
  port: SOCKET_PORT,
  user: 'postgres',
  database: 'postgres',
})

const listen = (server: Server, path: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, resolve)
  })

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )

type Session = {
  id: number
  socket: Socket
  /** bytes that do not make a whole message yet */
  rest: Buffer
  startup: Buffer | null
  started: boolean
  messages: Buffer[]
  /** it has sent a COPY … FROM STDIN */
  copies: boolean
  /** the client's names of prepared statements → ours */
  statements: Map<string, string>
  /** its SETs, kept here while another session is in the backend */
  settings: Record<string, string>
}

/** Lets many connections share PGlite's one backend session as if each had its own. (pglite-socket's multiplexer does
 *  not: it switches clients between two messages, so that a Bind ran another client's statement and one client got the
 *  other's rows; statement names collide and SETs leak.) A client has the backend from its first message until
 *  ReadyForQuery reports "no transaction"; statement names are made unique, and settings change hands with the backend.
 *  Still shared: session-level advisory locks, temporary tables, LISTEN, SET ROLE, DEALLOCATE ALL and DISCARD. */
function createGate(database: PGlite): { accept(socket: Socket): void; close(): Promise<void> } {
  const sessions = new Set<Session>()
  const waiting = new Set<Session>() // in order of arrival
  let holder: Session | null = null // in the middle of a batch or a transaction
  let loaded: Session | null = null // whose settings the backend has
  let work = Promise.resolve()
  let idle: NodeJS.Timeout | undefined
  let closing = false
  let lastId = 0

  function accept(socket: Socket): void {
    if (closing) return void socket.destroy()
    const session: Session = {
      id: ++lastId,
      socket,
      rest: Buffer.alloc(0),
      startup: null,
      started: false,
      messages: [],
      copies: false,
      statements: new Map(),
      settings: {},
    }
    sessions.add(session)
    socket.on('data', (chunk) => {
      if (!readMessages(session, chunk)) socket.destroy()
      else if (session.startup || session.messages.length > 0) schedule(session)
    })
    socket.on('error', () => {}) // a client that vanished: 'close' follows and cleans up
    socket.on('close', () => schedule(session))
  }

  function schedule(session: Session): void {
    waiting.add(session)
    work = work.then(run)
  }

  async function run(): Promise<void> {
    for (;;) {
      const next: Session | undefined = holder ?? waiting.values().next().value
      if (!next || !waiting.delete(next)) return
      clearTimeout(idle)
      try {
        await (next.socket.destroyed ? end(next) : serve(next))
      } catch (error) {
        refuse(next, 'XX000', error instanceof Error ? error.message : String(error))
      }
    }
  }

  async function serve(session: Session): Promise<void> {
    if (session.startup) {
      session.settings = settingsIn(session.startup)
      const answer = await send(session.startup)
      session.startup = null
      session.socket.write(answer)
    }
    if (session.messages.length === 0) return
    if (loaded !== session) await load(session)
    const batch = Buffer.concat(session.messages)
    session.messages = []
    holder = session
    const answer = await send(batch)
    session.socket.write(answer)
    if (endsIdle(answer)) holder = null
    else idle = setTimeout(() => setImmediate(expire, session), IDLE_IN_TRANSACTION_MS)
  }

  /** Runs after one more look at the sockets: a blocked event loop is not the client's silence. */
  function expire(session: Session): void {
    if (holder !== session || waiting.has(session)) return
    refuse(session, '25P03', 'terminating connection due to idle-in-transaction timeout')
  }

  async function end(session: Session): Promise<void> {
    if (!sessions.delete(session)) return
    if (holder === session) {
      holder = null // first: whatever fails below must not lock the others out
      await send(SYNC) // after an error the backend skips everything up to here
      if (database.isInTransaction()) await database.exec('ROLLBACK')
    }
    if (loaded === session) loaded = null
    if (sessions.size === 0) return void (await database.exec('DISCARD ALL'))
    const prepared = await database.query<{ name: string }>(
      'SELECT name FROM pg_catalog.pg_prepared_statements WHERE starts_with(name, $1)',
      [`c${session.id}_`],
    )
    for (const { name } of prepared.rows) await database.exec(`DEALLOCATE ${name}`)
  }

  async function load(session: Session): Promise<void> {
    if (loaded) {
      const changed = await database.query<{ name: string; setting: string }>(
        `SELECT name, setting FROM pg_catalog.pg_settings WHERE source = 'session'`,
      )
      loaded.settings = Object.fromEntries(changed.rows.map((row) => [row.name, row.setting]))
    }
    loaded = null
    await database.exec('RESET SESSION AUTHORIZATION; RESET ALL')
    if (Object.keys(session.settings).length > 0) {
      await database.query(
        'SELECT pg_catalog.set_config(key, value, false) FROM pg_catalog.json_each_text($1)',
        [session.settings],
      )
    }
    loaded = session
  }

  const send = (message: Uint8Array): Promise<Uint8Array> =>
    database.runExclusive(() => database.execProtocolRaw(message))

  async function close(): Promise<void> {
    closing = true
    const open = [...sessions].filter((session) => !session.socket.closed)
    await Promise.all(
      open.map((session) => new Promise((resolve) => session.socket.once('close', resolve).destroy())),
    )
    await work
  }

  return { accept, close }
}

const SYNC = Buffer.from([0x53, 0, 0, 0, 4])
// PGlite cannot wait for a client's next message: COPY … FROM STDIN would spin for ever. This right behind each Query
// and Execute turns it into an error; the backend ignores it outside of COPY.
const COPY_FAIL = Buffer.from('f\0\0\0\x33not supported by the embedded database, INSERT\0', 'latin1')
// Codes that stand where a startup packet has its protocol version (PostgreSQL, "Message Formats").
const CANCEL_REQUEST = 80877102
const ENCRYPTION_REQUESTS = [80877103, 80877104]

/** Cuts what arrived into messages; false when it is not the protocol, or the client takes its leave. */
function readMessages(session: Session, chunk: Buffer): boolean {
  let rest = session.rest.length > 0 ? Buffer.concat([session.rest, chunk]) : chunk
  for (;;) {
    const header = session.started ? 1 : 0 // a startup packet has no type byte
    if (rest.length < header + 4) break
    const length = header + rest.readInt32BE(header)
    if (length < header + (session.started ? 4 : 8) || length > MESSAGE_MAX_BYTES) return false
    if (rest.length < length) break
    const message = rest.subarray(0, length)
    rest = rest.subarray(length)
    if (session.started) {
      if (message[0] === 0x58) return false // Terminate
      // CopyData, CopyDone, CopyFail: the COPY they belong to has failed already. They get no answer, so that one alone
      // would hold the backend.
      if (message[0] === 0x64 || message[0] === 0x63 || message[0] === 0x66) continue
      session.messages.push(renameStatement(session, message))
      session.copies ||= isCopyFromStdin(message)
      if (session.copies && (message[0] === 0x51 || message[0] === 0x45)) session.messages.push(COPY_FAIL)
    } else if (ENCRYPTION_REQUESTS.includes(message.readInt32BE(4))) {
      session.socket.write('N')
    } else if (message.readInt32BE(4) === CANCEL_REQUEST) {
      return false // a statement blocks this very thread: there is never one to cancel
    } else {
      session.startup = message
      session.started = true
    }
  }
  session.rest = rest
  return true
}

/** Parse, Bind, Describe and Close with the statement's name made unique among all clients. */
function renameStatement(session: Session, message: Buffer): Buffer {
  const kind = String.fromCharCode(message[0] ?? 0)
  let start = 5
  if (kind === 'B')
    start = message.indexOf(0, 5) + 1 // after the portal's name
  else if ((kind === 'D' || kind === 'C') && message[5] === 0x53) start = 6
  else if (kind !== 'P') return message
  const end = message.indexOf(0, start)
  if (end <= start) return message // unnamed: lives within the batch
  const name = message.toString('latin1', start, end)
  const unique = session.statements.get(name) ?? `c${session.id}_${session.statements.size}`
  session.statements.set(name, unique)
  const renamed = Buffer.concat([message.subarray(0, start), Buffer.from(unique), message.subarray(end)])
  renamed.writeInt32BE(renamed.length - 1, 1)
  return renamed
}

/** May say yes to other texts with these words, which costs them nothing. */
function isCopyFromStdin(message: Buffer): boolean {
  if (message[0] !== 0x51 && message[0] !== 0x50) return false // only Query and Parse carry SQL
  const text = message.toString('latin1')
  return /\bcopy\b/i.test(text) && /\bstdin\b/i.test(text)
}

/** The settings a startup packet asks for; PGlite itself ignores them. */
function settingsIn(startup: Buffer): Record<string, string> {
  const words = startup.toString('utf8', 8).split('\0')
  const settings: Record<string, string> = {}
  for (let i = 0; i + 1 < words.length && words[i]; i += 2) {
    const [name, value] = [words[i] as string, words[i + 1] as string]
    if (name === 'options') {
      for (const [, key, set] of value.matchAll(/(?:-c\s*|--)([\w.]+)=(\S*)/g))
        settings[key as string] = set as string
    } else if (!['user', 'database', 'replication'].includes(name) && !name.startsWith('_pq_.')) {
      settings[name] = value
    }
  }
  return settings
}

/** Whether the backend's answer ends with ReadyForQuery outside a transaction. */
function endsIdle(answer: Uint8Array): boolean {
  const view = new DataView(answer.buffer, answer.byteOffset, answer.byteLength)
  let last = 0
  for (let at = 0; at < answer.length; at += 1 + view.getInt32(at + 1)) last = at
  return answer[last] === 0x5a && answer[last + 5] === 0x49
}

function refuse(session: Session, code: string, message: string): void {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${message}\0\0`)
  const head = Buffer.alloc(5, 'E')
  head.writeInt32BE(fields.length + 4, 1)
  session.socket.write(Buffer.concat([head, fields]))
  session.socket.destroySoon()
}
