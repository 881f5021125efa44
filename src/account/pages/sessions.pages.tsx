import type { VNode } from 'preact'
import { BidiText, type PageInteraction, type PageTenant, StepForm } from '../../pages/page-shell.pages.tsx'
import { AccountShell } from './account-shell.pages.tsx'
import { Moment } from './moment.pages.tsx'

/** A sign-in as its user knows it. */
export type ShownSession = {
  id: string
  /** The browser, or the app that keeps the session. */
  title: string
  isCurrent: boolean
  place: string | null
  ip: string | null
  lastSeenAt: Date
  startedAt: Date
  /** The names of the apps that were opened with it. */
  apps: readonly string[]
}

type SessionsPageProps = {
  tenant: PageTenant
  form: PageInteraction
  timeZone: string | null
  sessions: readonly ShownSession[]
  /** There are more than the page shows. */
  hasMore: boolean
  notice?: string | null
  messages?: readonly string[]
}

const Session = ({
  session,
  form,
  timeZone,
}: { session: ShownSession } & Pick<SessionsPageProps, 'form' | 'timeZone'>): VNode => (
  <li class="message">
    <div class="row between">
      <h2>
        <BidiText>{session.title}</BidiText>
      </h2>
      {session.isCurrent && <span class="tag">This browser</span>}
    </div>
    <dl class="claims">
      <dt>Last used</dt>
      <dd>
        <Moment at={session.lastSeenAt} timeZone={timeZone} />
      </dd>
      <dt>Signed in</dt>
      <dd>
        <Moment at={session.startedAt} timeZone={timeZone} />
      </dd>
      {(session.place ?? session.ip) !== null && (
        <>
          <dt>Place</dt>
          <dd>
            <BidiText>
              {[session.place, session.ip && `IP ${session.ip}`].filter(Boolean).join(', ')}
            </BidiText>
          </dd>
        </>
      )}
      {session.apps.length > 0 && (
        <>
          <dt>Apps</dt>
          <dd>
            {session.apps.map((name, index) => (
              <>
                {index > 0 && ', '}
                <BidiText>{name}</BidiText>
              </>
            ))}
          </dd>
        </>
      )}
    </dl>
    {!session.isCurrent && (
      <StepForm interaction={form} step="sign-out">
        <input type="hidden" name="session" value={session.id} />
        <button type="submit" class="secondary" aria-label={`Sign out there: ${session.title}`}>
          Sign out there
        </button>
      </StepForm>
    )}
  </li>
)

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
    title="Where you are signed in"
    lead="If you do not recognize one of these, sign out there. Places are estimated from the network."
    notice={notice}
    messages={messages}
  >
    {/* biome-ignore lint/a11y/noRedundantRoles: VoiceOver does not announce a list without bullets as a list. */}
    <ul class="messages" role="list">
      {sessions.map((session) => (
        <Session key={session.id} session={session} form={form} timeZone={timeZone} />
      ))}
    </ul>
    {hasMore && <p class="hint">There are more. Signing out everywhere else includes them.</p>}
    {(sessions.length > 1 || hasMore) && (
      <StepForm interaction={form} step="sign-out-others" class="stack">
        <button type="submit" class="primary">
          Sign out everywhere else
        </button>
      </StepForm>
    )}
  </AccountShell>
)
