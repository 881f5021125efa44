import { buildAdministersSql, buildHoldsRolesSql, type HeldRights } from '../access/effective-access.sql.ts'
import { TENANT_IDP_COLUMNS, type TenantIdp } from '../access/tenant.sql.ts'
import type { Db, Tx } from '../database/handle.ts'
import { declareRowLock } from '../database/row-locks.sql.ts'
import { type RowOf, statement, typed } from '../database/statement.ts'
import { type IdentityProvider, Prisma } from '../generated/prisma/client.ts'

const COLUMNS = Object.values(Prisma.IdentityProviderScalarFieldEnum)

const LOCK_IDP = declareRowLock('IdentityProvider', COLUMNS, 'FOR UPDATE')

/**
 * Locks the provider's row: other changes of it, and new links to it, wait. Null when there is no such
 * provider.
 */
export const lockIdp = (tx: Tx, id: string): Promise<IdentityProvider | null> => tx.one(LOCK_IDP, { id })

const SHARE_IDP = declareRowLock('IdentityProvider', COLUMNS, 'FOR SHARE')

/** Holds back changes of a provider until the transaction ends. Null when there is no such provider. */
export const shareIdp = (tx: Tx, id: string): Promise<IdentityProvider | null> => tx.one(SHARE_IDP, { id })

const SELECT_IDP_OF_DOMAIN = statement({
  takes: { domain: 'text' },
  returns: { idp: typed<TenantIdp>('jsonb') },
})`
  SELECT to_jsonb(i) AS "idp" FROM "OrganizationDomain" d JOIN LATERAL (
    SELECT ${TENANT_IDP_COLUMNS} FROM "IdentityProvider"
    WHERE "tenantId" = :tenant AND "organizationId" = d."organizationId"
      AND ("domains" = '{}' OR d."domain" = ANY("domains")) ORDER BY "id"
  ) i ON true
  WHERE d."tenantId" = :tenant AND d."domain" = :domain AND d."verifiedAt" IS NOT NULL LIMIT 1`

/** The provider of the organization that has proven a domain; null without one. */
export const selectIdpOfDomain = async (db: Db, domain: string): Promise<TenantIdp | null> =>
  (await db.one(SELECT_IDP_OF_DOMAIN, { domain }))?.idp ?? null

const SELECT_ROLES_OF_LINKED = statement({ takes: { id: 'text' }, returns: { role: 'text' } })`
  SELECT DISTINCT r."role" FROM "IdpUser" l
  JOIN "User" u ON u."tenantId" = :tenant AND u."id" = l."userId", unnest(u."roles") AS r("role")
  WHERE l."tenantId" = :tenant AND l."idpId" = :id`

/** The roles of the users who are linked to a provider. */
export const selectLinkedUserRoles = async (db: Db, id: string): Promise<string[]> =>
  (await db.many(SELECT_ROLES_OF_LINKED, { id })).map(({ role }) => role)

const LINKED = `SELECT FROM "IdpUser" l WHERE l."tenantId" = :tenant AND l."idpId" = i."id"`
const SELECT_RIGHTS_OF_LINKED = statement({
  takes: { id: 'text' },
  returns: { holdsRoles: 'boolean', administers: 'boolean' },
})`
  SELECT EXISTS (${LINKED} AND ${buildHoldsRolesSql('l."userId"')}) AS "holdsRoles",
    EXISTS (${LINKED} AND ${buildAdministersSql('l."userId"')}) AS "administers"
  FROM "IdentityProvider" i WHERE i."tenantId" = :tenant AND i."id" = :id`

/** The rights that some of the users who are linked to a provider hold. */
export const selectLinkedRights = (db: Db, id: string): Promise<HeldRights | null> =>
  db.one(SELECT_RIGHTS_OF_LINKED, { id })

// In the order of an index, from where the last batch ended: deleted entries are still in the index.
const declareDeletion = (table: 'IdpUser' | 'IdpUserToken', key: 'userId' | 'linkId') => statement({
  takes: { idpId: 'text', after: 'text', limit: 'int' },
  returns: { count: 'int', last: 'text?' },
})`
  WITH batch AS (
    SELECT "${key}" FROM "${table}" WHERE "tenantId" = :tenant AND "idpId" = :idpId AND "${key}" > :after
    ORDER BY "${key}" LIMIT :limit
  ), deleted AS (
    DELETE FROM "${table}" WHERE "tenantId" = :tenant AND "idpId" = :idpId AND "${key}" IN (SELECT "${key}" FROM batch)
  )
  SELECT count(*)::int AS "count", max("${key}") AS "last" FROM batch`

const DELETE_LINKS = declareDeletion('IdpUser', 'userId')
const DELETE_TOKENS = declareDeletion('IdpUserToken', 'linkId')

/** Rows of one statement: a provider may have very many, and a statement has 10 s. */
const BATCH = 20_000

async function deleteAll(tx: Tx, deletion: typeof DELETE_LINKS, idpId: string): Promise<number> {
  let count = 0
  for (let after: string | null = ''; after !== null; ) {
    const batch: RowOf<typeof DELETE_LINKS> | null = await tx.one(deletion, { idpId, after, limit: BATCH })
    count += batch?.count ?? 0
    after = batch?.count === BATCH ? batch.last : null
  }
  return count
}

/** Deletes all links to a locked provider, and returns how many there were. */
export const deleteIdpLinks = (tx: Tx, idpId: string): Promise<number> => deleteAll(tx, DELETE_LINKS, idpId)

/** Deletes all tokens that are kept of a locked provider. */
export const deleteIdpTokens = (tx: Tx, idpId: string): Promise<number> => deleteAll(tx, DELETE_TOKENS, idpId)
