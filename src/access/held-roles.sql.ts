import { InvalidInput, NotFound } from '../core/errors.ts'
import { type HeldRoles, isBuiltInRole, listRoles, ROLE_NAMES, SYSTEM_TENANT } from '../core/scopes.ts'
import type { Db } from '../database/handle.ts'
import { statement, typed } from '../database/statement.ts'

/** The type of a column of `buildHeldRolesSql`. */
export const HELD_ROLES = typed<HeldRoles>('text[]')

/** The roles of a user as `HeldRoles`. Built-in ones alone read no other table, and null stays null. `user` is the alias of the row of the user. */
export const buildHeldRolesSql = (user: string): string =>
  `CASE WHEN NOT ${user}."roles" <@ '{${ROLE_NAMES.join(',')}}'::text[] THEN ${user}."roles" || ARRAY(
    SELECT unnest(mr."scopes") FROM "ManagementRole" mr WHERE mr."tenantId" = ${user}."tenantId" AND mr."name" = ANY (${user}."roles")
  ) ELSE ${user}."roles" END`

const declareRead = (lock: '' | 'FOR SHARE') => statement({
  takes: { names: 'text[]' },
  returns: { name: 'text', scopes: 'text[]' },
})`
  SELECT "name", "scopes" FROM "ManagementRole" WHERE "tenantId" = :tenant AND "name" = ANY (:names) ORDER BY "id" ${lock}`

const READ = declareRead('')
const SHARE = declareRead('FOR SHARE')

/** Those of the roles that the tenant has defined: one statement where there may be such, none otherwise. */
async function readDefined(db: Db, roles: readonly string[], query: typeof READ) {
  const names = roles.filter((role) => !isBuiltInRole(role))
  return names.length === 0 ? [] : db.many(query, { names })
}

const combine = (roles: readonly string[], defined: { scopes: string[] }[]): HeldRoles =>
  [...roles, ...defined.flatMap(({ scopes }) => scopes)] as HeldRoles

/** Roles with the scopes of those that the tenant has defined, as they are now. */
export const resolveRoles = async (db: Db, roles: readonly string[]): Promise<HeldRoles> =>
  combine(roles, await readDefined(db, roles, READ))

/** Roles as above, which stay as they are until the transaction ends. */
export const shareRoles = async (tx: Db, roles: readonly string[]): Promise<HeldRoles> =>
  combine(roles, await readDefined(tx, roles, SHARE))

/**
 * Roles as above. Throws NotFound that names those that the tenant does not have in `field`, and InvalidInput for the role of
 * operators in another tenant than `system`.
 */
export async function shareKnownRoles(tx: Db, roles: readonly string[], field = 'roles'): Promise<HeldRoles> {
  if (roles.includes('operator') && tx.tenant !== SYSTEM_TENANT)
    throw new InvalidInput([{ field, description: `operator exists in tenant ${SYSTEM_TENANT} only` }])
  const defined = await readDefined(tx, roles, SHARE)
  const names = defined.map(({ name }) => name)
  const description = `must be one of ${listRoles(tx.tenant).join(', ')}, or a role that the tenant has defined`
  const missing = roles.flatMap((role, index) =>
    isBuiltInRole(role) || names.includes(role) ? [] : [{ field: `${field}.${index}`, description }],
  )
  if (missing.length > 0) throw new NotFound('role', missing)
  return combine(roles, defined)
}
