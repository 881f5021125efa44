import { findClient } from '../../access/client-cache.ts'
import type { Ctx } from '../../context/context.ts'
import { describeBrowser } from '../../languages/browser.ts'
import { localizeClient } from '../../languages/localize-client.ts'
import { getRequestWords } from '../../languages/request-language.ts'
import { listUserSessions } from '../../sessions/sessions.ts'
import { revokeViewerSession, revokeViewerSessions } from '../sessions.ts'
import { type AccountPage, type AccountVisit, renderVisit } from './account-page.http.ts'
import { SessionsPage, type ShownSession } from './sessions.pages.tsx'

/** The page shows this many sessions at most, those of apps included. */
const MAX_SHOWN = 100

type SessionRow = Awaited<ReturnType<typeof listUserSessions>>['rows'][number]

async function loadClientNames(ctx: Ctx, sessions: readonly SessionRow[]): Promise<Map<string, string>> {
  const ids = new Set(sessions.flatMap(({ clientId }) => clientId ?? []))
  const clients = await Promise.all([...ids].map((id) => findClient(ctx.tenant, id)))
  const { language } = getRequestWords(ctx)
  return new Map(
    clients.flatMap((client) =>
      client ? [[client.id, localizeClient(client, language).name] as const] : [],
    ),
  )
}

/** Sessions of apps belong to that of the browser in which they were opened; the current one is first. */
async function listShownSessions({ ctx, user, session: current }: AccountVisit) {
  const page = await listUserSessions(ctx, user.id, { first: MAX_SHOWN })
  const names = await loadClientNames(ctx, page.rows)
  const getName = ({ clientId }: SessionRow) => (clientId && names.get(clientId)) || null
  const ids = new Set(page.rows.map(({ id }) => id))
  const words = getRequestWords(ctx)
  const sessions = page.rows
    .filter(({ parentId }) => parentId === null || !ids.has(parentId))
    .map(
      (row): ShownSession => ({
        id: row.id,
        title: row.kind === 'browser' ? describeBrowser(row.userAgent, words) : getName(row),
        isApp: row.kind !== 'browser',
        isCurrent: row.id === current.id,
        place: row.lastSeenLocation,
        ip: row.lastSeenIp,
        lastSeenAt: row.lastSeenAt ?? row.createdAt,
        startedAt: row.authenticatedAt ?? row.createdAt,
        apps: [...new Set(page.rows.filter(({ parentId }) => parentId === row.id).map(getName))],
      }),
    )
    .sort(
      (one, other) =>
        Number(other.isCurrent) - Number(one.isCurrent) ||
        other.lastSeenAt.getTime() - one.lastSeenAt.getTime(),
    )
  return { sessions, hasMore: page.hasNextPage }
}

/** Where the user is signed in. */
export const SESSIONS_PAGE: AccountPage = {
  path: '/sessions',
  show: async (visit, problem) => renderVisit(visit, problem, SessionsPage, await listShownSessions(visit)),
  forms: {
    'sign-out': ['signedOut', ({ ctx }, { session = '' }) => revokeViewerSession(ctx, session)],
    'sign-out-others': ['signedOutOthers', ({ ctx }) => revokeViewerSessions(ctx, {})],
  },
}
