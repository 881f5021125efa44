import type { Ctx } from '../context/context.ts'
import type { Db, Tx } from '../database/handle.ts'
import { createEvent } from '../events/create-event.ts'
import { recordEvents } from '../events/log.ts'
import { MAX_HELD } from './app-roles.fields.ts'
import { LOCK_PROVIDED, SYNC_PROVIDED } from './provider-roles.sql.ts'

/** A role that an identity provider gave a member by a claim. */
export type ProvidedAppRole = { appRoleId: string; idpId: string; idpName: string }

/** Finds the roles that providers gave members, for a loader. */
export async function findProvidedAppRoles(
  { prisma, tenant: tenantId }: Db,
  ids: string[],
): Promise<{ id: string; providedAppRoles: ProvidedAppRole[] }[]> {
  const rows = await prisma.membershipAppRole.findMany({
    where: { tenantId, membershipId: { in: ids }, idpId: { not: null } },
    select: { membershipId: true, roleId: true, idp: { select: { id: true, name: true } } },
    orderBy: { roleId: 'asc' },
  })
  return ids.map((id) => ({
    id,
    providedAppRoles: rows.flatMap(({ membershipId, roleId, idp }) =>
      membershipId === id && idp ? [{ appRoleId: roleId, idpId: idp.id, idpName: idp.name }] : [],
    ),
  }))
}

type Provided = {
  userId: string
  organizationId: string
  idpId: string
  /** The updatedAt of the provider whose mapping names the roles. */
  idpUpdatedAt: Date
  roleIds: string[]
  /** Why some values of the claim were ignored; null for none. */
  ignored: string | null
}

/**
 * Gives a member exactly these roles of those that a provider gives, in the transaction of the caller: two statements, and one for the
 * events. Roles that were given otherwise stay. False, and nothing is changed, when the membership or the provider has changed since.
 */
export async function syncProviderRoles(
  tx: Tx,
  ctx: Ctx,
  { userId, organizationId, idpId, idpUpdatedAt, roleIds, ignored }: Provided,
): Promise<boolean> {
  const locked = await tx.one(LOCK_PROVIDED, { organizationId, userId, idpId, idpUpdatedAt })
  if (!locked) return false
  const about = { userId, organizationId, membershipId: locked.membershipId }
  const { membershipId } = locked
  const changes = await tx.many(SYNC_PROVIDED, {
    membershipId,
    organizationId,
    idpId,
    roleIds,
    max: MAX_HELD,
  })
  const toNames = (isAdded: boolean) =>
    changes
      .filter((change) => change.isAdded === isAdded)
      .map(({ name }) => name)
      .join(' ')
  await recordEvents(tx, ctx, [
    ...(changes.length > 0
      ? [
          createEvent(
            'membership.app_roles_changed',
            { ...about, idpId, appRoleIds: changes.map(({ roleId }) => roleId) },
            { added: toNames(true), removed: toNames(false) },
          ),
        ]
      : []),
    ...(ignored === null
      ? []
      : [createEvent('membership.role_claim_ignored', { ...about, idpId }, { ignored })]),
  ])
  return true
}

/**
 * Takes the roles that a provider gave from all members, but those that its mapping has, in the transaction of the caller. Returns how
 * many were taken.
 */
export async function takeProviderRoles(
  { prisma, tenant: tenantId }: Tx,
  idpId: string,
  kept: readonly string[] = [],
): Promise<number> {
  const where = { tenantId, idpId, roleId: { notIn: [...kept] } }
  return (await prisma.membershipAppRole.deleteMany({ where })).count
}
