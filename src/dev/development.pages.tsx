import type { VNode } from 'preact'
import { env } from '../core/env.ts'
import { toSafeLink } from '../core/network/safe-link.ts'
import type { StoredMessage } from '../delivery/inbox.ts'
import { BidiText, PageShell } from '../pages/page-shell.pages.tsx'
import type { StartUrl } from './start-urls.ts'

/** The first number of six or ten digits of a text: the code. */
const findCode = (body: string): string | null => /(?<!\d)\d{6}(?:\d{4})?(?!\d)/.exec(body)?.[0] ?? null

/** The text of a message, with links to this server that can be followed. */
const MessageBody = ({ body }: { body: string }): VNode => (
  <pre dir="auto">
    {body.split(/(https?:\/\/\S+)/).map((part) =>
      part.startsWith(`${env.baseUrl}/`) ? (
        <a href={part} key={part}>
          {part}
        </a>
      ) : (
        part
      ),
    )}
  </pre>
)

const CHANNEL_NAMES = { email: 'Email', sms: 'SMS' } as const

function InboxMessageItem({ message }: { message: StoredMessage }): VNode {
  const code = findCode(message.body)
  return (
    <li class="message">
      <div class="row between">
        <span class="row">
          <span class="tag">{CHANNEL_NAMES[message.channel]}</span>
          <strong>
            <BidiText>{message.to}</BidiText>
          </strong>
        </span>
        <time class="hint" dateTime={message.sentAt.toISOString()}>
          {message.sentAt.toISOString().slice(0, 19).replace('T', ' ')} UTC
        </time>
      </div>
      {message.subject && (
        <h2>
          <BidiText>{message.subject}</BidiText>
        </h2>
      )}
      {code && <code class="message-code">{code}</code>}
      <MessageBody body={message.body} />
      {message.html && <a href={`/dev/inbox/${message.id}`}>Show the mail as it is designed</a>}
    </li>
  )
}

type InboxPageProps = {
  /** Newest first. */
  messages: readonly StoredMessage[]
  /** The address that the list is filtered by. */
  to?: string | null
}

/**
 * The e-mails and text messages of a development server without SMTP_URL and SMS_URL. The filter form sends
 * `GET ?to=`.
 */
export const InboxPage = ({ messages, to }: InboxPageProps): VNode => (
  <PageShell
    title="Development inbox"
    lead="Mail and text messages that this server would have sent. They are kept in memory only."
    wide
  >
    <form method="get" class="search">
      <div class="field">
        <label for="to">Address or number</label>
        <input
          id="to"
          name="to"
          type="text"
          inputMode="email"
          autocapitalize="none"
          spellcheck={false}
          dir="auto"
          value={to ?? ''}
        />
      </div>
      <button type="submit" class="secondary">
        Show
      </button>
    </form>
    {messages.length === 0 ? (
      <p class="hint">
        {to ? 'Nothing was sent there yet.' : 'Nothing was sent yet.'} The page reloads itself. Codes go only
        to users who exist and are not locked.
      </p>
    ) : (
      // biome-ignore lint/a11y/noRedundantRoles: VoiceOver takes a list without bullets for no list.
      <ul class="messages" role="list">
        {messages.map((message) => (
          <InboxMessageItem message={message} key={message.id} />
        ))}
      </ul>
    )}
  </PageShell>
)

/** A mail of the development inbox: its HTML in a frame that runs no script, and its text. */
export const MailPage = ({ mail: { id, subject, to, body } }: { mail: StoredMessage }): VNode => (
  <PageShell
    title="Mail"
    heading={<BidiText>{subject}</BidiText>}
    lead={
      <>
        To <BidiText>{to}</BidiText>
      </>
    }
    wide
  >
    <iframe
      class="mail"
      src={`/dev/inbox/${id}/html`}
      sandbox="allow-popups allow-popups-to-escape-sandbox"
      title="The mail as HTML"
    />
    <h2>The mail as text</h2>
    <div class="message">
      <MessageBody body={body} />
    </div>
    <a class="button secondary" href={`/dev/inbox?to=${encodeURIComponent(to)}`}>
      Back to the inbox
    </a>
  </PageShell>
)

/** What a development server has: the first page that somebody opens. */
export const StartPage = ({ urls }: { urls: readonly StartUrl[] }): VNode => (
  <PageShell
    title="Vestibule is running"
    lead="This is a development server. Continue with one of these."
    wide
  >
    {/* biome-ignore lint/a11y/noRedundantRoles: VoiceOver takes a list without bullets for no list. */}
    <ul class="messages" role="list">
      {urls.map(({ label, url, description }) => (
        <li class="message" key={label}>
          <h2>
            <a href={toSafeLink(url) ?? undefined}>{label}</a>
          </h2>
          <p>{description}</p>
          <p class="hint">
            <BidiText>{url}</BidiText>
          </p>
        </li>
      ))}
    </ul>
  </PageShell>
)
