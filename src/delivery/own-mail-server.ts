import type { Socket } from 'node:net'
import type { SendMailOptions, SentMessageInfo, Transporter } from 'nodemailer'
import { env } from '../core/env.ts'
import { FetchError } from '../core/network/fetcher.ts'
import { connectGuarded } from '../core/network/guarded-connect.ts'
import { ConversationError, converse, type OwnServers, unsealServerSecret } from './own-servers.ts'

const DEFAULT_PORT = { 'smtp:': 587, 'smtps:': 465 }

/** A transport to the mail server of a tenant, for one conversation, on a public address. */
async function openTransport(servers: OwnServers, signal: AbortSignal): Promise<Transporter> {
  const { createTransport } = await import('nodemailer') // loaded on first use
  const { protocol, hostname, port } = new URL(servers.mailServer ?? '')
  const host = hostname.replace(/^\[|\]$/g, '')
  return createTransport({
    host,
    port: Number(port) || DEFAULT_PORT[protocol as keyof typeof DEFAULT_PORT],
    secure: protocol === 'smtps:',
    // Nobody between the servers takes encryption away.
    requireTLS: env.isProduction && protocol === 'smtp:',
    ...(servers.mailServerUser !== null && {
      auth: { user: servers.mailServerUser, pass: unsealServerSecret(servers, 'mailServerPassword') },
      // A server without authentication must not get mail that looks authenticated.
      forceAuth: true,
    }),
    getSocket: (
      options: { port: number },
      done: (error: Error | null, opened?: { connection: Socket }) => void,
    ) =>
      void connectGuarded(host, options.port, signal).then(
        (connection) => done(null, { connection }),
        (error) => done(error),
      ),
    disableFileAccess: true,
    disableUrlAccess: true,
  } as never)
}

/** One line of a reply, without what a screen must not show. */
const cleanReply = (reply: string): string =>
  reply
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
    .slice(0, 200)

/** Says how a conversation failed. Replies to a sign-in are left out, because they may quote the password. */
function toConversationError(thrown: unknown): ConversationError {
  const { code, command, response, responseCode } = thrown as SentMessageInfo
  for (let error = thrown; error instanceof Error; error = error.cause)
    if (error instanceof FetchError) return new ConversationError('The host is not on a public address.')
  if (code === 'EAUTH')
    return new ConversationError(
      `The server did not accept the user and the password${responseCode ? ` (${responseCode})` : ''}.`,
    )
  if (response)
    return new ConversationError(`The server answered: ${cleanReply(response)}`, command !== 'RCPT TO')
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return new ConversationError('The name of the host has no address.')
  if (code === 'ETLS') return new ConversationError('There is no encrypted connection to the server.')
  return new ConversationError(`The connection to the server failed (${code ?? 'unknown'}).`)
}

const useTransport = (
  servers: OwnServers,
  use: (transport: Transporter, signal: AbortSignal) => Promise<string>,
): Promise<string> =>
  converse(servers, 'email', async (signal) => {
    const transport = await openTransport(servers, signal)
    return use(transport, signal).catch((error: unknown) => {
      throw toConversationError(error)
    })
  })

/** Sends a mail through the mail server of the tenant. Resolves with the outcome in words. Throws ConversationError. */
export const sendByOwnMailServer = (servers: OwnServers, mail: SendMailOptions): Promise<string> =>
  useTransport(servers, async (transport, signal) => {
    const { response } = (await transport.sendMail({ ...mail, signal } as never)) as SentMessageInfo
    return `The server accepted the message: ${cleanReply(String(response))}`
  })

/** Connects to the mail server of the tenant and authenticates, without a mail. Throws ConversationError. */
export const verifyOwnMailServer = (servers: OwnServers): Promise<string> =>
  useTransport(servers, async (transport) => {
    await transport.verify()
    return 'The server accepted the connection.'
  })
