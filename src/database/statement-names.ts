import { LRUCache } from 'lru-cache'
import { sha256Base64url } from '../core/crypto.ts'
import { env } from '../core/env.ts'
import type { Connection } from './rows/known-query.ts'
import { forgetReader } from './rows/known-query.ts'

/** Generated statements that a process names, and that a connection keeps: their number, and the characters of their texts. */
const NAMED = { max: 1000, maxSize: 2_000_000 }
const PREPARED = { max: 200, maxSize: 400_000 }
/** A longer text is sent without a name: it would displace many. */
const MAX_CHARACTERS = 20_000

const toHash = (text: string): string => sha256Base64url(text).slice(0, 32)

/** The names of the declared statements by text. */
const declared = new Map<string, string>()
const generated = new LRUCache<string, string>({ ...NAMED, sizeCalculation: (_, text) => text.length })
const GENERATED = 'g_'

/** Gives a statement of the program a name, which no other statement displaces. */
export function declareStatementName(text: string): void {
  declared.set(text, `v_${toHash(text)}`)
}

/**
 * PostgreSQL reuses plans by statement name. Texts have no values, but each selection or filter of a caller generates
 * another one. Generated statements share a cache, so that those of one caller displace no statement of the program.
 * `check` gets a text that has no name yet.
 */
export function getStatementName(text: string, check?: (text: string) => void): string {
  const known = declared.get(text) ?? generated.get(text)
  if (known !== undefined) return env.databasePooler ? '' : known
  check?.(text)
  if (env.databasePooler || text.length > MAX_CHARACTERS) return ''
  const name = `${GENERATED}${toHash(text)}`
  generated.set(text, name)
  return name
}

/**
 * Makes a connection forget generated statements: before it prepares one too many, it closes the one that was not used
 * for the longest time (PostgreSQL, "Message Formats", Close). The server would keep them until the connection ends.
 */
export function limitPreparedStatements(connection: Connection): void {
  const prepared = new LRUCache<string, string>({
    ...PREPARED,
    sizeCalculation: (text) => text.length,
    dispose: (_, name, reason) => {
      if (reason !== 'evict') return
      connection.close({ type: 'S', name })
      delete connection.parsedStatements[name]
      forgetReader(connection, name)
    },
  })
  const parse = connection.parse.bind(connection)
  const bind = connection.bind.bind(connection)
  connection.parse = (statement) => {
    if (statement.name?.startsWith(GENERATED)) prepared.set(statement.name, statement.text)
    parse(statement)
  }
  connection.bind = (portal) => {
    if (portal.statement?.startsWith(GENERATED)) prepared.get(portal.statement)
    bind(portal)
  }
}
