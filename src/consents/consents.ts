import { isClientId } from '../access/client-ids.ts'
import { requireNoEscalation } from '../access/require-scope.ts'
import { revokeAccess } from '../access/revocation/revocation.ts'
import type { Ctx } from '../context/context.ts'
import { readIdPrefix } from '../core/crypto.ts'
import { NotFound } from '../core/errors.ts'
import { getRoleScopes, type HeldRoles } from '../core/scopes.ts'
import { toAppError } from '../core/to-app-error.ts'
import { listInOrder } from '../database/page-query.ts'
import { createEvent } from '../events/create-event.ts'
import type { Prisma } from '../generated/prisma/client.ts'
import { readClaimName } from '../model/claim-mappings.ts'
import type { Page, PageArgs } from '../schema/page.ts'
import { lockUserRow } from '../users/lock-user.sql.ts'

const WITH_CLIENT = {
  client: { select: { id: true, name: true, clientUri: true, logoUrl: true, translations: true } },
} as const

/** A user's consent, with the name and logo of the client. */
export type ConsentWithClient = Prisma.ConsentGetPayload<{ include: typeof WITH_CLIENT }>

/** The detail of an event of a consent. */
export const toConsentDetail = ({
  scopes,
  claims,
  resources,
}: {
  scopes: string[]
  claims: string[]
  resources: string[]
}) => ({
  scope: scopes.join(' '),
  ...(claims.length > 0 && { claims: [...new Set(claims.map(readClaimName))].join(' ') }),
  ...(resources.length > 0 && { resources: resources.join(' ') }),
})

/**
 * The consents of a user, ordered by client id: one statement, and another for totalSize. Throws NotFound,
 * and InvalidInput for invalid paging arguments.
 */
export const listUserConsents = (
  ctx: Ctx,
  userId: string,
  args: PageArgs,
): Promise<Page<ConsentWithClient>> =>
  listInOrder(ctx, args, {
    name: `${ctx.tenant}:consents:${userId}`,
    column: 'clientId',
    read: async (page) => {
      if (readIdPrefix(userId) !== 'user') throw new NotFound('user')
      const user = await ctx.db.prisma.user.findUnique({
        where: { tenantId_id: { tenantId: ctx.tenant, id: userId } },
        select: { consents: { ...page, include: WITH_CLIENT } },
      })
      if (!user) throw new NotFound('user')
      return user.consents
    },
    countAll: () => countUserConsents(ctx, userId),
  })

/** The number of consents of a user. */
export const countUserConsents = (ctx: Ctx, userId: string): Promise<number> =>
  ctx.db.prisma.consent.count({ where: { tenantId: ctx.tenant, userId } })

/** The caller must have all scopes of the user's roles. Throws Forbidden. */
const assertCanRevoke = (ctx: Ctx, roles: HeldRoles) => requireNoEscalation(ctx, getRoleScopes(roles))

/**
 * Revokes a user's consent for a client, with the client's grants, refresh tokens, sessions and unused codes;
 * the client also gets a logout token. `assertAllowed` throws when the caller may not do this to a user with
 * these roles. Throws NotFound without such a user or consent.
 */
export async function revokeUserConsent(
  ctx: Ctx,
  userId: string,
  clientId: string,
  { assertAllowed = assertCanRevoke, now = new Date() } = {},
): Promise<{ revokedClientId: string }> {
  if (readIdPrefix(userId) !== 'user') throw new NotFound('user')
  if (!isClientId(clientId)) throw new NotFound('consent')
  await ctx.db.transaction(async (tx) => {
    const user = await lockUserRow(tx, userId)
    if (!user) throw new NotFound('user')
    assertAllowed(ctx, user.roles)
    const consent = await tx.prisma.consent
      .delete({
        where: { tenantId_userId_clientId: { tenantId: ctx.tenant, userId, clientId } },
        select: { scopes: true, claims: true, resources: true },
      })
      .catch((error) => {
        throw toAppError(error) instanceof NotFound ? new NotFound('consent') : error
      })
    const before = [createEvent('consent.revoked', { userId, clientId }, toConsentDetail(consent))]
    await revokeAccess(tx, ctx, { kind: 'user and client', userId, clientId }, 'revoked', {
      now,
      before,
    })
  })
  return { revokedClientId: clientId }
}
