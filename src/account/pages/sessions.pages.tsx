import type { VNode } from 'preact'
import { BidiText } from '../../pages/page-shell.pages.tsx'
import { Fact, PlainList, StepButton } from '../../pages/parts/controls.pages.tsx'
import { Hint, Message, useWords } from '../../pages/parts/words.pages.tsx'
import { AccountItem, type AccountPageProps, AccountShell } from './account-shell.pages.tsx'
import { Moment } from './moment.pages.tsx'

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

type SessionsPageProps = AccountPageProps & {
  sessions: readonly ShownSession[]
  /** There are more than the page shows. */
  hasMore: boolean
}

function Session({
  session,
  form,
  timeZone,
}: { session: ShownSession } & Pick<SessionsPageProps, 'form' | 'timeZone'>): VNode {
  const words = useWords()
  const title = session.title ?? words.text(session.isApp ? 'sessions.app' : 'sessions.unknown')
  return (
    <AccountItem
      heading={<BidiText>{title}</BidiText>}
      tag={session.isCurrent && <Message of="sessions.this" />}
    >
      <dl class="claims">
        <Fact of="account.lastUsed">
          <Moment at={session.lastSeenAt} timeZone={timeZone} />
        </Fact>
        <Fact of="sessions.signedIn">
          <Moment at={session.startedAt} timeZone={timeZone} />
        </Fact>
        {(session.place ?? session.ip) !== null && (
          <Fact of="sessions.place">
            {session.place !== null && <BidiText>{session.place}</BidiText>}
            {session.place !== null && session.ip !== null && <br />}
            {session.ip !== null && <BidiText>{words.text('sessions.ip', { address: session.ip })}</BidiText>}
          </Fact>
        )}
        {session.apps.length > 0 && (
          <Fact of="sessions.apps">
            {session.apps.map((name, index) => (
              <>
                {index > 0 && ', '}
                <BidiText>{name ?? words.text('sessions.app')}</BidiText>
              </>
            ))}
          </Fact>
        )}
      </dl>
      {!session.isCurrent && (
        <StepButton
          interaction={form}
          step="sign-out"
          of="sessions.signOut"
          look="secondary"
          fields={{ session: session.id }}
          label={words.text('sessions.signOutName', { name: title })}
        />
      )}
    </AccountItem>
  )
}

/** Lists where the user is signed in. Posts `step=sign-out` with `session`, or `step=sign-out-others`. */
export const SessionsPage = ({ form, timeZone, sessions, hasMore, ...shell }: SessionsPageProps): VNode => (
  <AccountShell {...shell} title="account.sessions" lead={<Message of="sessions.lead" />}>
    <PlainList class="messages">
      {sessions.map((session) => (
        <Session key={session.id} session={session} form={form} timeZone={timeZone} />
      ))}
    </PlainList>
    {hasMore && <Hint of="sessions.more" />}
    {(sessions.length > 1 || hasMore) && (
      <StepButton interaction={form} step="sign-out-others" class="stack" of="sessions.signOutOthers" />
    )}
  </AccountShell>
)
