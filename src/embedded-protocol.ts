import type { Socket } from 'node:net'

// Far above what the platform sends; a length beyond it is not our protocol.
const MESSAGE_MAX_BYTES = 256 * 1024 * 1024

/** One client of the embedded database, and what of PostgreSQL's wire protocol concerns it. */
export type Session = {
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

// PGlite cannot wait for a client's next message: COPY … FROM STDIN would spin for ever. This right behind each Query
// and Execute turns it into an error; the backend ignores it outside of COPY.
const COPY_FAIL = Buffer.from('f\0\0\0\x33not supported by the embedded database, INSERT\0', 'latin1')
// Codes that stand where a startup packet has its protocol version (PostgreSQL, "Message Formats").
const CANCEL_REQUEST = 80877102
const ENCRYPTION_REQUESTS = [80877103, 80877104]

/** Cuts what arrived into messages; false when it is not the protocol, or the client takes its leave. */
export function readMessages(session: Session, chunk: Buffer): boolean {
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
export function settingsIn(startup: Buffer): Record<string, string> {
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
export function endsIdle(answer: Uint8Array): boolean {
  const view = new DataView(answer.buffer, answer.byteOffset, answer.byteLength)
  let last = 0
  for (let at = 0; at < answer.length; at += 1 + view.getInt32(at + 1)) last = at
  return answer[last] === 0x5a && answer[last + 5] === 0x49
}

/** Tells the client why, and hangs up. */
export function writeRefusal(session: Session, code: string, message: string): void {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${message}\0\0`)
  const head = Buffer.alloc(5, 'E')
  head.writeInt32BE(fields.length + 4, 1)
  session.socket.write(Buffer.concat([head, fields]))
  session.socket.destroySoon()
}
