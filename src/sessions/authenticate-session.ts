import { authenticateAll, sha256 } from '../crypto.ts'
import type { Ctx } from '../ctx.ts'
import { sql } from '../db.ts'
import { InvalidCredential } from '../errors.ts'
import { toEventRow, wakeReaders } from '../events.ts'
import { parse } from '../fields.ts'
import type { User } from '../generated/prisma/client.ts'
import { locationOf } from './location.ts'
import { updateSessionUse } from './session-use.sql.ts'
import { AuthenticateSession } from './sessions.fields.ts'
import type { SessionRow } from './sessions.sql.ts'

/**
 * What a token is rotated to, under each server key: computed, so that a retry with the old token within its 10 s
 * gets the same answer instead of a second successor. Nobody computes it without both the token and the server key.
 */
const successorsOf = (tenant: string, token: string): string[] =>
  authenticateAll('session-successor', `${tenant}\n${token}`).map((mac) => mac.toString('base64url'))

export type AuthenticatedSession = { session: SessionRow; sessionToken: string | null; user: User }

/**
 * Authenticates a session token (spec: Authenticate session token): one statement, its event included.
 * - sessionExpirationMinutes above 0 moves the end of a refreshable session; it is ignored for others.
 * - rotateSessionToken answers a new token, and the old one works 10 s longer. A retry with the old one within these
 *   10 s answers the same new token. Browser sessions never rotate: their token lives in the platform's own cookie.
 * - clientId must be given, and equal, when the session was started through a client.
 * Throws InvalidInput, or InvalidCredential, the same whatever is wrong with the token.
 */
export async function authenticateSession(
  ctx: Ctx,
  input: unknown,
  now = new Date(),
): Promise<AuthenticatedSession> {
  const asked = parse(AuthenticateSession, input)
  const successors = asked.rotateSessionToken ? successorsOf(ctx.tenant, asked.sessionToken) : []
  const { ipAddress: ip, userAgent } = asked.metadata
  const found = await updateSessionUse(
    sql,
    ctx.tenant,
    {
      tokenHash: sha256(asked.sessionToken),
      clientId: asked.clientId,
      now,
      expirationMinutes: asked.sessionExpirationMinutes,
      successorHash: successors[0] ? sha256(successors[0]) : null,
      seen: { ip, location: locationOf(ip), userAgent },
    },
    toEventRow(ctx, { type: 'session.refreshed' }),
  )
  if (!found) throw new InvalidCredential('The session token is not valid.')
  if (found.isChanged) wakeReaders(ctx.tenant)
  const sessionToken = successors.find((successor) => sha256(successor).equals(found.tokenHash)) ?? null
  return { session: found.session, sessionToken, user: found.user }
}
