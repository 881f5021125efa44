import { requireOrganizationControl } from '../context/administered-organization.ts'
import type { Ctx } from '../context/context.ts'
import { isJsonObject } from '../core/json/json-object.ts'
import type { Tx } from '../database/handle.ts'
import type { IdentityProvider } from '../generated/prisma/client.ts'
import { shareRoles } from '../permissions/permissions.sql.ts'
import { requireAssignable } from '../permissions/role-assignments.ts'
import type { Claims } from './answers/claims.ts'
import { type ClaimRole, MAX_VALUE_CHARACTERS } from './claimed-roles.fields.ts'

type Mapping = Pick<IdentityProvider, 'organizationId' | 'roleClaim' | 'claimRoles'>

/** The ids of the roles of a mapping. */
export const listMappedRoles = (claimRoles: unknown): string[] =>
  (claimRoles as ClaimRole[]).map(({ appRoleId }) => appRoleId)

/**
 * Requires the right to give and to take the roles of a mapping, which must be for members of the organization. Throws
 * Forbidden, and NotFound and InvalidInput that name each other role.
 */
export async function requireMapping(
  tx: Tx,
  ctx: Ctx,
  { organizationId, claimRoles }: Omit<Mapping, 'roleClaim'>,
): Promise<void> {
  requireOrganizationControl(ctx, organizationId ?? '', 'roles:write')
  await shareRoles(tx, listMappedRoles(claimRoles))
  await requireAssignable(
    tx,
    listMappedRoles(claimRoles),
    { kind: 'member', organizationId },
    (index) => `claimRoles.${index}.appRoleId`,
  )
}

/** Values of a claim that are judged. */
const MAX_VALUES = 1000

/** The roles that a claim names, and why some of its values were ignored; null for all that were not. */
export type ClaimedRoles = { roleIds: string[]; ignored: string | null }

/** The claim of a name, which may have dots itself, or of a path. */
const findClaim = (claims: Claims, name: string): unknown =>
  Object.hasOwn(claims, name)
    ? claims[name]
    : name
        .split('.')
        .reduce<unknown>(
          (found, part) => (isJsonObject(found) && Object.hasOwn(found, part) ? found[part] : undefined),
          claims,
        )

/** Whether the answer lacks the claim of a mapping. */
export const lacksRoleClaim = ({ roleClaim, claimRoles }: Mapping, claims: Claims): boolean =>
  roleClaim !== null && (claimRoles as ClaimRole[]).length > 0 && findClaim(claims, roleClaim) === undefined

/**
 * The roles that verified claims name by the mapping of a provider; null without a mapping. A claim is a text or a list, whose members
 * are judged one by one. An absent claim names none.
 */
export function selectClaimedRoles({ roleClaim, claimRoles }: Mapping, claims: Claims): ClaimedRoles | null {
  const mapping = claimRoles as ClaimRole[]
  if (roleClaim === null || mapping.length === 0) return null
  const found = findClaim(claims, roleClaim) ?? []
  const given = Array.isArray(found) ? found : [found]
  const judged = given.slice(0, MAX_VALUES)
  const texts = judged.filter((value) => typeof value === 'string')
  const values = new Set(texts.filter((value) => value.length <= MAX_VALUE_CHARACTERS))
  const reasons = [
    [given.length - judged.length, `beyond ${MAX_VALUES}`],
    [judged.length - texts.length, 'not text'],
    [texts.filter((value) => value.length > MAX_VALUE_CHARACTERS).length, 'too long'],
  ] as const
  const ignored = reasons.flatMap(([count, reason]) => (count > 0 ? [`${count} ${reason}`] : [])).join(', ')
  const roleIds = mapping.flatMap(({ value, appRoleId }) => (values.has(value) ? [appRoleId] : []))
  return { roleIds: [...new Set(roleIds)], ignored: ignored || null }
}
