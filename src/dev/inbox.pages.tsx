import type { VNode } from 'preact'
import { env } from '../core/env.ts'
import type { StoredMessage } from '../delivery/inbox.ts'
import { BidiText, PageShell } from '../pages/page-shell.pages.tsx'

/** The first number of six or ten digits of a text: the code. */
const findCode = (body: string): string | null => /(?<!\d)\d{6}(?:\d{4})?(?!\d)/.exec(body)?.[0] ?? null

/** The text of a message, with links to this server that can be followed. */
export const MessageBody = ({ body }: { body: string }): VNode => (
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
