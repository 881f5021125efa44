import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createMailServer, type Socket } from 'node:net'
import { json } from 'node:stream/consumers'
import type { Email } from 'postal-mime'
import { closers } from './environment.ts'
import { startMailServer } from './mail-server.ts'

export const GATEWAY_TOKEN = 'gateway-token'

/** A mail server and a text message gateway on loopback, and what they received. */
export type MessageServers = {
  mails: { from: string; to: string[]; email: Email; raw: string }[]
  texts: { authorization?: string; type?: string; body: { to: string; body: string } }[]
  /** The mail server answers 451. */
  rejectsMail: boolean
  /** The mail server ends every connection at once. */
  refusesConnections: boolean
  /** The addresses for which the mail server answers RCPT TO with 550. */
  unknownMailboxes: Set<string>
  /** The mail server never answers a message. */
  holdsMail: boolean
  smsStatus: number
  /** Forgets what was received and answers normally. */
  reset: () => void
}

/**
 * Starts both servers and sets the variables that lead to them: src/core/env.ts must not have been imported
 * yet.
 */
export async function startMessageServers(): Promise<MessageServers> {
  const servers: MessageServers = {
    mails: [],
    texts: [],
    rejectsMail: false,
    refusesConnections: false,
    unknownMailboxes: new Set(),
    holdsMail: false,
    smsStatus: 200,
    reset: () => {
      servers.mails.length = servers.texts.length = 0
      servers.rejectsMail = servers.refusesConnections = servers.holdsMail = false
      servers.unknownMailboxes.clear()
      servers.smsStatus = 200
    },
  }
  const mail = await startMailServer(
    async (email, to, from, raw) => {
      // A message that is never answered: the client closes the connection.
      if (servers.holdsMail) await new Promise(() => {})
      if (servers.rejectsMail) throw Object.assign(new Error('try later'), { responseCode: 451 })
      servers.mails.push({ from, to, email, raw: raw.toString('latin1') })
    },
    {
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: ({ username, password }, _session, done) =>
        username === 'vestibule' && password === 'secret'
          ? done(null, { user: username })
          : done(new Error('invalid credentials')),
      onRcptTo: ({ address }, _session, done) =>
        done(
          servers.unknownMailboxes.has(address)
            ? Object.assign(new Error('no such mailbox'), { responseCode: 550 })
            : null,
        ),
    },
  )
  mail.server.on('connection', (socket: Socket) => {
    if (servers.refusesConnections) socket.destroy()
  })
  const gateway = createServer(async (request, response) => {
    const { authorization, 'content-type': type } = request.headers
    const body = (await json(request)) as { to: string; body: string }
    servers.texts.push({ authorization, type, body })
    const headers = servers.smsStatus === 302 ? { location: 'http://127.0.0.1:1/' } : {}
    response.writeHead(servers.smsStatus, headers).end()
  })
  gateway.listen(0, '127.0.0.1')
  await once(gateway, 'listening')
  closers.push(async () => {
    gateway.close()
    await mail.close()
  })
  process.env.SMTP_URL = `smtp://vestibule:secret@127.0.0.1:${mail.port}?ignoreTLS=true`
  process.env.MAIL_FROM = 'Vestibule <no-reply@vestibule.example>'
  process.env.SMS_URL = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}/messages`
  process.env.SMS_TOKEN = GATEWAY_TOKEN
  return servers
}

/** The newest mail; throws when there is none. */
export function lastMail({ mails }: MessageServers): MessageServers['mails'][number] {
  const mail = mails.at(-1)
  if (!mail) throw new Error('no mail arrived')
  return mail
}
/** The newest text message; throws when there is none. */
export function lastText({ texts }: MessageServers): MessageServers['texts'][number]['body'] {
  const text = texts.at(-1)
  if (!text) throw new Error('no text message arrived')
  return text.body
}

/** How long each step of a conversation takes. */
const STEP_MS = 50

/**
 * Starts a mail server and a gateway for text messages that take 50 ms for each step, and sets the variables
 * for them. It imports nothing of `src/`, which reads the environment when it is imported.
 */
export async function startSlowMessageServers(): Promise<{ close: () => void }> {
  const mail = createMailServer((socket) => {
    socket.on('error', () => undefined)
    const answer = (line: string) =>
      setTimeout(() => socket.destroyed || socket.write(`${line}\r\n`), STEP_MS)
    answer('220 slow ESMTP')
    socket.on('data', (chunk) => {
      const text = String(chunk)
      if (/^DATA/i.test(text)) answer('354 go on')
      else if (/^QUIT/i.test(text)) socket.end('221 bye\r\n')
      else if (/^(EHLO|HELO|MAIL|RCPT|RSET)/i.test(text)) answer('250 ok')
      else if (/\r\n\.\r\n$/.test(text)) answer('250 taken')
    })
  })
  const gateway = createServer((request, response) => {
    request.resume()
    setTimeout(() => response.writeHead(202).end(), STEP_MS)
  })
  const listen = (server: typeof mail) =>
    new Promise<number>((resolve) =>
      server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)),
    )
  process.env.SMTP_URL = `smtp://127.0.0.1:${await listen(mail)}`
  process.env.SMS_URL = `http://127.0.0.1:${await listen(gateway)}`
  process.env.SMS_TOKEN = 'a-token'
  return { close: () => [mail, gateway].forEach((server) => void server.close()) }
}
