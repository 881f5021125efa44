import type { Ctx } from '../context/context.ts'
import { computeMacs, sha256 } from '../core/crypto.ts'
import { InvalidCredential } from '../core/errors.ts'
import { lookUpLocation } from '../core/network/ip-location.ts'
import { createEvent } from '../events/create-event.ts'
import { createEventRow } from '../events/log.ts'
import type { User } from '../generated/prisma/client.ts'
import { parseInput } from '../schema/input-shapes.ts'
import { withDevice } from './device-tokens.ts'
import { updateSessionUse } from './session-use.sql.ts'
import { AuthenticateSession } from './sessions.fields.ts'
import type { SessionRow } from './sessions.sql.ts'

/**
 * The successor of a token under each key of ENCRYPTION_KEY. It is computed, so that a retry with the old
 * token within 10 s gets the same successor. Computing it requires the token and the key.
 */
const computeSuccessors = (tenant: string, token: string): string[] =>
  computeMacs('session-successor', `${tenant}\n${token}`).map((mac) => mac.toString('base64url'))

export type AuthenticatedSession = { session: SessionRow; sessionToken: string | null; user: User }

/**
 * Authenticates a session token: one statement, including its event.
 * - sessionExpirationMinutes above 0 extends a refreshable session; it is ignored for others.
 * - rotateSessionToken returns a new token, and the old one stays valid for 10 s. A retry with the old one
 *   within these 10 s returns the same new token. Browser sessions never rotate, because their token is in a
 *   cookie.
 * - clientId must be given, and equal, when the session was started through a client.
 * Throws InvalidInput, or InvalidCredential with one message for all reasons.
 */
export async function authenticateSession(
  callerCtx: Ctx,
  input: unknown,
  now = new Date(),
): Promise<AuthenticatedSession> {
  const request = parseInput(AuthenticateSession, input)
  const ctx = withDevice(callerCtx, request.metadata)
  const successors = request.rotateSessionToken ? computeSuccessors(ctx.tenant, request.sessionToken) : []
  const { ipAddress: ip, userAgent } = request.metadata
  const found = await updateSessionUse(
    ctx.db,
    {
      tokenHash: sha256(request.sessionToken),
      clientId: request.clientId,
      now,
      expirationMinutes: request.sessionExpirationMinutes,
      successorHash: successors[0] ? sha256(successors[0]) : null,
      seen: { ip, location: lookUpLocation(ip), userAgent, deviceId: ctx.deviceId ?? null },
    },
    () => createEventRow(ctx, createEvent('session.refreshed', null, { rotated: false })),
  )
  if (!found) throw new InvalidCredential('The session token is not valid.')
  const sessionToken = successors.find((successor) => sha256(successor).equals(found.tokenHash)) ?? null
  return { session: found.session, sessionToken, user: found.user }
}
