import type { Transporter } from 'nodemailer'
import { env } from '../env.ts'
import { Unavailable } from '../errors.ts'
import { log } from '../log.ts'
import { keepMessage } from './inbox.ts'

/** A paragraph of a mail as HTML; one with `href` is a link. */
export type MailPart = { text: string; look?: 'plain' | 'code' | 'link' | 'aside'; href?: string }
/** A mail in both forms: as text, and as the parts of which its HTML is made. */
export type RichMail = { subject: string; text: string; parts: readonly MailPart[] }
/** `to` is one addr-spec, never a list. Without parts it is a mail of text alone. */
export type Mail = { to: string; subject: string; text: string; parts?: readonly MailPart[] }

let renderHtml: ((mail: RichMail) => string) | undefined
/** Says what makes HTML of mails: a page, of which services know nothing. Until then mails are text alone. */
export const renderMailBy = (render: typeof renderHtml): void => {
  renderHtml = render
}

/** A person waits for the answer; a mail server that takes longer is as good as away. */
export const DELIVERY_LIMIT_MS = 10_000

let transport: Transporter | undefined
async function transportTo(url: string): Promise<Transporter> {
  const { createTransport } = await import('nodemailer') // not needed to start
  transport ??= createTransport({
    url,
    connectionTimeout: DELIVERY_LIMIT_MS,
    greetingTimeout: DELIVERY_LIMIT_MS,
    socketTimeout: DELIVERY_LIMIT_MS,
    // Nothing that a tenant or a person wrote may make the server read a file or a URL.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return transport
}

/** Rejects once the limit has passed. The timeouts above each count for one step of the conversation only. */
async function within<T>(limitMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`took longer than ${limitMs} ms`)), limitMs)
  })
  return Promise.race([work, limit]).finally(() => clearTimeout(timer))
}

const oneLine = (text: string): string => text.replace(/\p{Cc}+/gu, ' ')

/**
 * Sends a mail and waits until the server has taken it, 10 s at most. Throws Unavailable otherwise. Without SMTP_URL
 * it goes to the console and the inbox of development; production does not start without.
 */
export async function deliverMail({ to, subject, text, parts }: Mail): Promise<void> {
  if (!env.smtpUrl) {
    if (env.isProduction) throw new Unavailable('Mail is not configured.')
    return keepMessage({ to, channel: 'email', sentAt: new Date(), subject, body: text })
  }
  try {
    await within(
      DELIVERY_LIMIT_MS,
      (await transportTo(env.smtpUrl)).sendMail({
        from: env.mailFrom,
        // As an object it is one address, whatever characters it holds.
        to: { name: '', address: to },
        subject: oneLine(subject),
        text,
        html: parts && renderHtml?.({ subject, text, parts }),
      }),
    )
  } catch (error) {
    // The code of the failure only: the server's answer may quote the mail.
    const { code, responseCode } = error as { code?: string; responseCode?: number }
    log.error({ code, responseCode }, 'a mail could not be delivered')
    throw new Unavailable('The message could not be delivered; try again.')
  }
}
