import type { VNode } from 'preact'
import { BidiText, type PageInteraction, type PageTenant, StepForm } from '../../pages/page-shell.pages.tsx'
import { Message, useWords } from '../../pages/parts/words.pages.tsx'
import { AccountShell } from './account-shell.pages.tsx'
import { Moment } from './moment.pages.tsx'
import type { Notice } from './notices.ts'

/** A sign-in as its user knows it. */
export type ShownSession = {
  id: string
  /** The browser, or the app that keeps the session; null if it is unknown. */
  title: string | null
  isApp?: boolean
  isCurrent: boolean
  place: string | null
  ip: string | null
  lastSeenAt: Date
  startedAt: Date
  /** The names of the apps that were opened with it. */
  apps: readonly (string | null)[]
}

type SessionsPageProps = {
  tenant: PageTenant
  form: PageInteraction
  timeZone: string | null
  sessions: readonly ShownSession[]
  /** There are more than the page shows. */
  hasMore: boolean
  notice?: Notice | null
  messages?: readonly string[]
}

function Session({
  session,
  form,
  timeZone,
}: { session: ShownSession } & Pick<SessionsPageProps, 'form' | 'timeZone'>): VNode {
  const words = useWords()
  const title = session.title ?? words.text(session.isApp ? 'sessions.app' : 'sessions.unknown')
  return (
    <li class="message">
      <div class="row between">
        <h2>
          <BidiText>{title}</BidiText>
        </h2>
        {session.isCurrent && (
          <span class="tag">
            <Message of="sessions.this" />
          </span>
        )}
      </div>
      <dl class="claims">
        <dt>
          <Message of="account.lastUsed" />
        </dt>
        <dd>
          <Moment at={session.lastSeenAt} timeZone={timeZone} />
        </dd>
        <dt>
          <Message of="sessions.signedIn" />
        </dt>
        <dd>
          <Moment at={session.startedAt} timeZone={timeZone} />
        </dd>
        {(session.place ?? session.ip) !== null && (
          <>
            <dt>
              <Message of="sessions.place" />
            </dt>
            <dd>
              {session.place !== null && <BidiText>{session.place}</BidiText>}
              {session.place !== null && session.ip !== null && <br />}
              {session.ip !== null && (
                <BidiText>{words.text('sessions.ip', { address: session.ip })}</BidiText>
              )}
            </dd>
          </>
        )}
        {session.apps.length > 0 && (
          <>
            <dt>
              <Message of="sessions.apps" />
            </dt>
            <dd>
              {session.apps.map((name, index) => (
                <>
                  {index > 0 && ', '}
                  <BidiText>{name ?? words.text('sessions.app')}</BidiText>
                </>
              ))}
            </dd>
          </>
        )}
      </dl>
      {!session.isCurrent && (
        <StepForm interaction={form} step="sign-out">
          <input type="hidden" name="session" value={session.id} />
          <button
            type="submit"
            class="secondary"
            aria-label={words.text('sessions.signOutName', { name: title })}
          >
            <Message of="sessions.signOut" />
          </button>
        </StepForm>
      )}
    </li>
  )
}

/** Lists where the user is signed in. Posts `step=sign-out` with `session`, or `step=sign-out-others`. */
export const SessionsPage = ({
  tenant,
  form,
  timeZone,
  sessions,
  hasMore,
  notice,
  messages,
}: SessionsPageProps): VNode => (
  <AccountShell
    tenant={tenant}
    title={<Message of="account.sessions" />}
    lead={<Message of="sessions.lead" />}
    notice={notice}
    messages={messages}
  >
    {/* biome-ignore lint/a11y/noRedundantRoles: VoiceOver does not announce a list without bullets as a list. */}
    <ul class="messages" role="list">
      {sessions.map((session) => (
        <Session key={session.id} session={session} form={form} timeZone={timeZone} />
      ))}
    </ul>
    {hasMore && (
      <p class="hint">
        <Message of="sessions.more" />
      </p>
    )}
    {(sessions.length > 1 || hasMore) && (
      <StepForm interaction={form} step="sign-out-others" class="stack">
        <button type="submit" class="primary">
          <Message of="sessions.signOutOthers" />
        </button>
      </StepForm>
    )}
  </AccountShell>
)
