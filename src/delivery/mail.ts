import { randomUUID } from 'node:crypto'
import type { SendMailOptions, Transporter } from 'nodemailer'
import { env } from '../core/env.ts'
import { errorMessage } from '../core/error-message.ts'
import { Unavailable } from '../core/errors.ts'
import { log } from '../core/log.ts'
import { traced } from '../core/requests/spans.ts'
import { toHeaderText } from './header-text.ts'
import { addInboxMessage } from './inbox.ts'
import type { RichMail } from './mail-content.ts'
import { sendByOwnMailServer } from './own-mail-server.ts'
import { ConversationError } from './own-servers.ts'
import { getMailDomain, selectSender } from './sender.ts'

/** `to` is one addr-spec, never a list. A mail without content is text only. */
export type Mail = { to: string } & (Pick<RichMail, 'subject' | 'text'> | RichMail)

let renderHtml: ((mail: RichMail) => string) | undefined
/**
 * Sets the function that renders mails to HTML, so that services do not import pages. Until then mails are
 * text only.
 */
export const setMailRenderer = (render: typeof renderHtml): void => {
  renderHtml = render
}

const toHtml = (mail: Mail): string | undefined => ('parts' in mail ? renderHtml?.(mail) : undefined)

/** A user waits for the response, so a slower server counts as unavailable. */
export const DELIVERY_TIMEOUT_MS = 10_000

let transport: Transporter | undefined
async function openTransport(url: string): Promise<Transporter> {
  const { createTransport } = await import('nodemailer') // loaded on first use
  transport ??= createTransport({
    url,
    connectionTimeout: DELIVERY_TIMEOUT_MS,
    greetingTimeout: DELIVERY_TIMEOUT_MS,
    socketTimeout: DELIVERY_TIMEOUT_MS,
    // No content of a tenant or user may make the server read a file or a URL.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return transport
}

/** Rejects after the limit. The timeouts above apply to single steps of the SMTP conversation. */
async function withTimeout<T>(limitMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`took longer than ${limitMs} ms`)), limitMs)
  })
  return Promise.race([work, limit]).finally(() => clearTimeout(timer))
}

/** Why the mail server of SMTP_URL cannot be used, or null. */
export async function verifyMailServer(): Promise<string | null> {
  if (!env.smtpUrl) return null
  try {
    await withTimeout(DELIVERY_TIMEOUT_MS, (await openTransport(env.smtpUrl)).verify())
    return null
  } catch (error) {
    const { code, responseCode } = error as { code?: string; responseCode?: number }
    return [code, responseCode].filter(Boolean).join(' ') || errorMessage(error)
  }
}

/** Keeps vacation notices and other programs from answering (RFC 3834, section 5). */
const AUTOMATIC = { 'Auto-Submitted': 'auto-generated' }

/**
 * Connects to the mail server and authenticates, without a mail. Throws when that fails or takes longer than
 * 10 s. Does nothing without SMTP_URL.
 */
export async function connectMailServer(): Promise<void> {
  if (env.smtpUrl) await withTimeout(DELIVERY_TIMEOUT_MS, (await openTransport(env.smtpUrl)).verify())
}

export const UNDELIVERED = 'The message could not be delivered; try again.'

const composeMail = (mail: Mail): SendMailOptions => ({
  ...selectSender('tenant' in mail ? mail.tenant : {}),
  messageId: `<${randomUUID()}@${getMailDomain()}>`,
  // An object is always one address, even if it contains separators.
  to: { name: '', address: mail.to },
  subject: toHeaderText(mail.subject),
  text: mail.text,
  html: toHtml(mail),
  headers: AUTOMATIC,
})

/**
 * Sends a mail of a tenant through its own mail server, and through no other while that fails. Resolves with the outcome in
 * words; null for a tenant without one. Throws ConversationError.
 */
export async function sendByTenant(mail: Mail): Promise<string | null> {
  const servers = 'tenant' in mail ? mail.tenant.servers : undefined
  return servers?.mailServer ? sendByOwnMailServer(servers, composeMail(mail)) : null
}

/**
 * Sends a mail and waits until the server has accepted it, at most 10 s. Throws Unavailable otherwise. The server is that
 * of the tenant, or of SMTP_URL. Without SMTP_URL the mail is stored in the development inbox; production does not start
 * without SMTP_URL.
 */
export async function deliverMail(mail: Mail): Promise<void> {
  try {
    if ((await sendByTenant(mail)) !== null) return
  } catch (error) {
    if (error instanceof ConversationError) throw new Unavailable(UNDELIVERED)
    throw error
  }
  if (!env.smtpUrl) {
    if (env.isProduction) throw new Unavailable('Mail is not configured.')
    const { to, subject, text: body } = mail
    return addInboxMessage({ to, channel: 'email', sentAt: new Date(), subject, body, html: toHtml(mail) })
  }
  try {
    const opened = await openTransport(env.smtpUrl)
    await traced({ name: 'mail', kind: 'client' }, () =>
      withTimeout(DELIVERY_TIMEOUT_MS, opened.sendMail(composeMail(mail))),
    )
  } catch (error) {
    // The error code only, because the response of the server may quote the mail.
    const { code, responseCode } = error as { code?: string; responseCode?: number }
    log.error({ code, responseCode }, 'a mail could not be delivered')
    throw new Unavailable(UNDELIVERED)
  }
}
