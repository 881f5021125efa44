import type { Ctx } from '../../ctx.ts'
import { sql } from '../../db.ts'
import { OAuthError, UserLocked } from '../../errors.ts'
import { wakeReaders } from '../../events.ts'
import { startSession } from '../../sessions/sessions.ts'
import { after } from '../../time.ts'
import { isPublic } from '../client-auth/auth-methods.ts'

/** As long as an unused browser session; whoever authenticates it may move its end. */
const CLIENT_SESSION_SECONDS = 12 * 3600

/**
 * Starts the session that a client gets with scope `session`: its own, refreshable, ending with the browser session.
 * Answers its token. Throws OAuthError invalid_grant when the user was locked or the browser session ended meanwhile.
 */
export async function startClientSession(
  ctx: Ctx,
  client: { id: string; appType: string },
  grant: { grantId: string; userId: string; sessionId: string; amr: string[] },
  now = new Date(),
): Promise<string> {
  try {
    const { token } = await startSession(
      sql,
      ctx,
      {
        userId: grant.userId,
        kind: 'oidc',
        clientId: client.id,
        parentId: grant.sessionId,
        grantId: grant.grantId,
        expiresAt: after(now, CLIENT_SESSION_SECONDS),
        refreshable: true,
        amr: grant.amr,
        // A public client calls from where the person is, others from their backend.
        seenFrom: isPublic(client) ? ctx : { ip: null, userAgent: null },
      },
      now,
    )
    wakeReaders(ctx.tenant)
    return token
  } catch (error) {
    if (error instanceof UserLocked)
      throw new OAuthError('invalid_grant', 'The session has ended.', { cause: error })
    throw error
  }
}
