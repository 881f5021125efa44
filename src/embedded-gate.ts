import type { Socket } from 'node:net'
import type { PGlite } from '@electric-sql/pglite'
import { endsIdle, readMessages, type Session, settingsIn, writeRefusal } from './embedded-protocol.ts'

// As every connection asks of PostgreSQL (design, section 4); PGlite has no timers of its own.
const IDLE_IN_TRANSACTION_MS = 10_000
// Ends a batch: after an error the backend skips everything up to here.
const SYNC = Buffer.from([0x53, 0, 0, 0, 4])

/** Lets many connections share PGlite's one backend session as if each had its own. (pglite-socket's multiplexer does
 *  not: it switches clients between two messages, so that a Bind ran another client's statement and one client got the
 *  other's rows; statement names collide and SETs leak.) A client has the backend from its first message until
 *  ReadyForQuery reports "no transaction"; statement names are made unique, and settings change hands with the backend.
 *  Still shared: session-level advisory locks, temporary tables, LISTEN, SET ROLE, DEALLOCATE ALL and DISCARD. */
export function createGate(database: PGlite): { accept(socket: Socket): void; close(): Promise<void> } {
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
        writeRefusal(next, 'XX000', error instanceof Error ? error.message : String(error))
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
    writeRefusal(session, '25P03', 'terminating connection due to idle-in-transaction timeout')
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
