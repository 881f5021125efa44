import type { Ctx } from '../../context/context.ts'
import { UserLocked } from '../../core/errors.ts'
import { OAuthError } from '../../core/oauth-error.ts'
import { addSeconds } from '../../core/time.ts'
import { isPublicClient } from '../../model/public-clients.ts'
import { startSession } from '../../sessions/sessions.ts'
import type { NewGrant } from './new-grant.sql.ts'

/** As long as an unused browser session; the client can extend it. */
const CLIENT_SESSION_SECONDS = 12 * 3600

/**
 * Starts the session that a client gets with scope `session`: refreshable, and ending with the browser
 * session. Returns its token. Throws OAuthError invalid_grant when the user is locked or the browser session
 * has ended.
 */
export async function startClientSession(
  ctx: Ctx,
  client: { id: string; appType: string },
  {
    organization,
    authenticatedAt,
    amr,
    ...grant
  }: Pick<NewGrant, 'grantId' | 'userId' | 'sessionId' | 'organization' | 'authenticatedAt' | 'amr'>,
): Promise<string> {
  const now = new Date()
  try {
    const { token } = await startSession(
      ctx.db,
      ctx,
      {
        userId: grant.userId,
        kind: 'oidc',
        clientId: client.id,
        parentId: grant.sessionId,
        grantId: grant.grantId,
        organization: organization && { id: organization.id, authenticatedAt, amr },
        expiresAt: addSeconds(now, CLIENT_SESSION_SECONDS),
        refreshable: true,
        proof: null,
        // Only a public client calls from the user's device.
        seenFrom: isPublicClient(client) ? ctx : { ip: null, userAgent: null },
      },
      now,
    )
    return token
  } catch (error) {
    if (error instanceof UserLocked)
      throw new OAuthError('invalid_grant', 'The session has ended.', { cause: error })
    throw error
  }
}
