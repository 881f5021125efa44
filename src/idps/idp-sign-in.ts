import type { Db } from '../database/handle.ts'

/** The key of an identity at a provider of the tenant. */
export type IdentityKey = { idpId: string; issuer: string; externalId: string }

/** The user to whom an identity is linked; null without one. */
export async function findLinkedUserId(
  { prisma, tenant }: Db,
  identity: IdentityKey,
): Promise<string | null> {
  const link = await prisma.idpUser.findUnique({
    where: { tenantId_idpId_issuer_externalId: { tenantId: tenant, ...identity } },
    select: { userId: true },
  })
  return link?.userId ?? null
}

/**
 * Records the use of a locked user's link. False when the link has been removed since the identity was proven, the
 * provider has disabled the account there, or was changed since `provenAt`, its updatedAt.
 */
export async function useLink(
  { prisma, tenant }: Db,
  { provenAt, now, ...link }: IdentityKey & { userId: string; provenAt: Date; now: Date },
): Promise<boolean> {
  const { count } = await prisma.idpUser.updateMany({
    where: { tenantId: tenant, ...link, disabledAt: null, idp: { updatedAt: provenAt } },
    data: { lastLoginAt: now },
  })
  return count > 0
}
