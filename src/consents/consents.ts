import { isClientId } from '../clients/client-ids.ts'
import { prefixOf } from '../crypto.ts'
import { type Ctx, scopesOfRoles } from '../ctx.ts'
import { dbFor, inTransaction } from '../db.ts'
import { NotFound } from '../errors.ts'
import { type NewEvent, recordEvents } from '../events.ts'
import type { Prisma } from '../generated/prisma/client.ts'
import { type Page, type PageArgs, parsePaging, toPage } from '../page.ts'
import { requireNoEscalation } from '../scopes.ts'
import { wakeAfterEnding } from '../sessions/after-ending.ts'
import { holdUser } from '../users/hold-user.sql.ts'
import { deleteConsent, endClientAccess } from './consents.sql.ts'

const WITH_CLIENT = { client: { select: { name: true, logoUrl: true } } } as const
/** What a person agreed to let a client do, with the client as people know it. */
export type ConsentOfClient = Prisma.ConsentGetPayload<{ include: typeof WITH_CLIENT }>

/** What cursors of a user's consents are bound to. */
const consentListOf = (tenant: string, userId: string): string => `${tenant}:consents:${userId}`

/**
 * What a user agreed to, by client, which is what names a consent within the list: one statement, and one more for
 * totalSize. Throws NotFound when there is no such user, InvalidInput about the paging.
 */
export async function listUserConsents(
  ctx: Ctx,
  userId: string,
  args: PageArgs,
): Promise<Page<ConsentOfClient>> {
  const name = consentListOf(ctx.tenant, userId)
  const paging = parsePaging(args, name)
  const backward = paging.mode === 'cursor' && paging.backward
  const seek = paging.mode === 'cursor' ? paging.seek : null
  if (prefixOf(userId) !== 'user') throw new NotFound('user')
  const user = await dbFor(ctx.tenant).user.findUnique({
    where: { tenantId_id: { tenantId: ctx.tenant, id: userId } },
    select: {
      consents: {
        where: seek ? { clientId: backward ? { lt: seek.id } : { gt: seek.id } } : {},
        orderBy: { clientId: backward ? 'desc' : 'asc' },
        skip: paging.mode === 'offset' ? paging.page * paging.pageSize : 0,
        take: paging.pageSize + 1,
        include: WITH_CLIENT,
      },
    },
  })
  if (!user) throw new NotFound('user')
  return toPage(paging, user.consents, {
    name,
    keyOf: ({ clientId }) => ({ value: null, id: clientId }),
    countAll: () => countUserConsents(ctx, userId),
  })
}

/** How many clients a user gave consent to. */
export const countUserConsents = (ctx: Ctx, userId: string): Promise<number> =>
  dbFor(ctx.tenant).consent.count({ where: { tenantId: ctx.tenant, userId } })

/** Nobody ends what a user let a client do whose roles permit what the caller may not. */
const assertMayRevoke = (ctx: Ctx, roles: readonly string[]) => requireNoEscalation(ctx, scopesOfRoles(roles))

/**
 * Takes back what a user agreed to for a client, with all that the client got by it: its grants, refresh tokens
 * included, the sessions handed to it, unused codes. Its tokens end with their grants, and it is told to sign the person
 * out, too. `assertMay` throws where the caller may not do so to a user with these roles. Throws NotFound without such a
 * user or consent.
 */
export async function revokeUserConsent(
  ctx: Ctx,
  userId: string,
  clientId: string,
  { assertMay = assertMayRevoke, now = new Date() } = {},
): Promise<{ revokedClientId: string }> {
  if (prefixOf(userId) !== 'user') throw new NotFound('user')
  if (!isClientId(clientId)) throw new NotFound('consent')
  await inTransaction(async (sql) => {
    const user = await holdUser(sql, ctx.tenant, userId)
    if (!user) throw new NotFound('user')
    assertMay(ctx, user.roles)
    const consent = await deleteConsent(sql, ctx.tenant, userId, clientId)
    if (!consent) throw new NotFound('consent')
    const { sessions, grants } = await endClientAccess(sql, ctx.tenant, { userId, clientId, now })
    const { scopes, claims } = consent
    const detail = { scope: scopes.join(' '), ...(claims.length > 0 && { claims: claims.join(' ') }) }
    await recordEvents(sql, ctx, [
      { type: 'consent.revoked', userId, subjectIds: [clientId], detail },
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
  wakeAfterEnding(ctx.tenant)
  return { revokedClientId: clientId }
}
