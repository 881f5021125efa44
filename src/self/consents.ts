import type { Ctx } from '../ctx.ts'
import { dbFor, inTransaction } from '../db.ts'
import { NotFound } from '../errors.ts'
import { type NewEvent, recordEvents, wakeReaders } from '../events.ts'
import { requireOwnAccount } from '../scopes.ts'
import { holdUser } from '../sessions/sessions.sql.ts'
import { deleteConsent, endClientAccess } from './consents.sql.ts'

/** How many clients a person gave consent to. */
export const countUserConsents = (ctx: Ctx, userId: string): Promise<number> =>
  dbFor(ctx.tenant).consent.count({ where: { tenantId: ctx.tenant, userId } })

/**
 * Takes back what a person agreed to for a client, with all that the client got by it: its grants, refresh tokens
 * included, the sessions handed to it, unused codes. Its tokens end with their grants. Who may is the caller's to check.
 * Throws NotFound without such a consent.
 */
export async function revokeUserConsent(
  ctx: Ctx,
  userId: string,
  clientId: string,
  now = new Date(),
): Promise<{ revokedClientId: string }> {
  await inTransaction(async (sql) => {
    // Codes that are being redeemed wait, or are seen as grants.
    const isHeld = await holdUser(sql, ctx.tenant, userId)
    const scopes = isHeld && (await deleteConsent(sql, ctx.tenant, userId, clientId))
    if (!scopes) throw new NotFound('consent')
    const { sessions, grants } = await endClientAccess(sql, ctx.tenant, { userId, clientId, now })
    await recordEvents(sql, ctx, [
      { type: 'consent.revoked', userId, subjectIds: [clientId], detail: { scope: scopes.join(' ') } },
      ...sessions.map(
        ({ id }): NewEvent => ({
          type: 'session.ended',
          userId,
          sessionId: id,
          subjectIds: [clientId],
          detail: { reason: 'revoked' },
        }),
      ),
      ...grants.map(
        ({ id, sessionId }): NewEvent => ({
          type: 'grant.revoked',
          userId,
          sessionId,
          subjectIds: [id, clientId],
          detail: { reason: 'revoked' },
        }),
      ),
    ])
  })
  wakeReaders(ctx.tenant)
  return { revokedClientId: clientId }
}

/** Takes back what the caller agreed to for a client: also for the one that calls, whose token ends with it. */
export const revokeViewerConsent = (ctx: Ctx, clientId: string): Promise<{ revokedClientId: string }> =>
  revokeUserConsent(ctx, requireOwnAccount(ctx).userId, clientId)
