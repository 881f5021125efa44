import type { Db, Tx } from '../database/handle.ts'
import { declareRowLock } from '../database/row-locks.sql.ts'
import { type RowOf, statement } from '../database/statement.ts'
import { type Organization, Prisma } from '../generated/prisma/client.ts'

const LOCK_ORGANIZATION = declareRowLock(
  'Organization',
  Object.values(Prisma.OrganizationScalarFieldEnum),
  'FOR UPDATE',
)

/** Locks an organization: other changes of it, and new memberships, wait. Null when there is none. */
export const lockOrganization = (tx: Tx, id: string): Promise<Organization | null> =>
  tx.one(LOCK_ORGANIZATION, { id })

const LOCK_MEMBER = declareRowLock('User', ['id'])

/** Locks the row of a user: changes of what the user signs in with wait. */
export const lockMember = async (tx: Db, id: string): Promise<void> => {
  await tx.one(LOCK_MEMBER, { id })
}

const LOCK_ADMINISTRATORS = declareRowLock('Organization', ['id'])

/** Makes other changes of who administers an organization wait. */
export const lockAdministrators = (tx: Tx, id: string): Promise<unknown> =>
  tx.one(LOCK_ADMINISTRATORS, { id })

const SHARE_ORGANIZATION = declareRowLock('Organization', ['id'], 'FOR SHARE')

/** Keeps an organization from being deleted until the transaction ends. False when there is none. */
export const shareOrganization = async (tx: Tx, id: string): Promise<boolean> =>
  (await tx.one(SHARE_ORGANIZATION, { id })) !== null

// In the order of an index, from where the last batch ended: deleted entries are still in the index.
const DELETE_MEMBERSHIPS = statement({
  takes: { organizationId: 'text', after: 'text', limit: 'int' },
  returns: { id: 'text', userId: 'text' },
})`
  WITH batch AS (
    SELECT "id", "userId" FROM "Membership" WHERE "tenantId" = :tenant AND "organizationId" = :organizationId AND "id" > :after
    ORDER BY "id" LIMIT :limit
  ), deleted AS (
    DELETE FROM "Membership" WHERE "tenantId" = :tenant AND "id" IN (SELECT "id" FROM batch)
  )
  SELECT "id", "userId" FROM batch ORDER BY "id"`

/** Rows of one statement, which has 10 s. */
const BATCH = 2_000

/** Deletes the memberships of a locked organization: yields them in batches. */
export async function* deleteMemberships(tx: Tx, organizationId: string) {
  for (let after: string | undefined = ''; after !== undefined; ) {
    const batch: RowOf<typeof DELETE_MEMBERSHIPS>[] = await tx.many(DELETE_MEMBERSHIPS, {
      organizationId,
      after,
      limit: BATCH,
    })
    if (batch.length > 0) yield batch
    after = batch[BATCH - 1]?.id
  }
}
