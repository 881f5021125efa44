import { storedColumns } from '../database/columns.ts'
import type { Db, Tx } from '../database/handle.ts'
import { declareRowLock } from '../database/row-locks.sql.ts'
import { statement } from '../database/statement.ts'
import { type OrganizationDomain, Prisma } from '../generated/prisma/client.ts'

const LOCK_DOMAIN = declareRowLock(
  'OrganizationDomain',
  Object.values(Prisma.OrganizationDomainScalarFieldEnum),
)

/** Locks a domain: other changes of it wait. Null when there is none. */
export const lockDomain = (tx: Tx, id: string): Promise<OrganizationDomain | null> =>
  tx.one(LOCK_DOMAIN, { id })

// The lock keeps the organization from being deleted before the membership is inserted.
const FIND_ORGANIZATION_TO_JOIN = statement({
  takes: { domain: 'text', userId: 'text' },
  returns: { organizationId: 'text' },
})`
  SELECT d."organizationId" FROM "OrganizationDomain" d
  JOIN "Organization" o ON o."tenantId" = d."tenantId" AND o."id" = d."organizationId"
  WHERE d."tenantId" = :tenant AND d."domain" = :domain AND d."verifiedAt" IS NOT NULL AND d."enrollment" = 'automatic'
    AND NOT EXISTS (
      SELECT FROM "Membership" m
      WHERE m."tenantId" = :tenant AND m."organizationId" = d."organizationId" AND m."userId" = :userId
    ) AND NOT EXISTS (
      SELECT FROM "ScimUser" s WHERE s."tenantId" = :tenant AND s."ownerId" = d."organizationId" AND s."userId" = :userId
    ) FOR KEY SHARE OF o`

/** The organization that a user with an address of the domain becomes a member of; null without one, for a member, and for a user whose membership a SCIM client has ended. */
export const findOrganizationToJoin = async (
  db: Db,
  values: { domain: string; userId: string },
): Promise<string | null> => (await db.one(FIND_ORGANIZATION_TO_JOIN, values))?.organizationId ?? null

// Each tenant gets a turn before another gets its second: slow answers about domains of one delay no other.
// Another process skips the rows, and finds them again if this one does not finish.
const CLAIM_DUE_DOMAINS = statement({
  takes: { now: 'timestamptz', until: 'timestamptz', limit: 'int' },
  returns: storedColumns('OrganizationDomain', ['tenantId', 'id', 'recordName', 'recordValue']),
})`
  UPDATE "OrganizationDomain" d SET "nextCheckAt" = :until FROM (
    SELECT o."tenantId", o."id" FROM "OrganizationDomain" o JOIN (
      SELECT "tenantId", "id", row_number() OVER (PARTITION BY "tenantId" ORDER BY "nextCheckAt") AS "turn"
      FROM "OrganizationDomain" WHERE :tenant = 'system' AND "nextCheckAt" <= :now
    ) t USING ("tenantId", "id")
    WHERE o."nextCheckAt" <= :now ORDER BY t."turn", o."nextCheckAt" LIMIT :limit FOR UPDATE OF o SKIP LOCKED
  ) due
  WHERE d."tenantId" = due."tenantId" AND d."id" = due."id"
  RETURNING d."tenantId", d."id", d."recordName", d."recordValue"`

/** Takes proven domains of all tenants that are due for a check, until a time when another process may. */
export const claimDueDomains = (db: Db, values: { now: Date; until: Date; limit: number }) =>
  db.many(CLAIM_DUE_DOMAINS, values)
