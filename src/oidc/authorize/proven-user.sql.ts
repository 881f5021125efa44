import type { Db } from '../../database/handle.ts'
import { type RowOf, statement } from '../../database/statement.ts'

const SELECT_PROVEN_USER = statement({
  takes: { userId: 'text' },
  returns: {
    userId: 'text',
    roles: 'text[]',
    name: 'text?',
    email: 'text?',
    phoneNumber: 'text?',
    locale: 'text?',
    hasSecondFactor: 'boolean',
  },
})`
  SELECT "id" AS "userId", "roles", "name", "email", "phoneNumber", "locale", "hasSecondFactor" FROM "User"
  WHERE "tenantId" = :tenant AND "id" = :userId AND NOT "locked"`

/** The user of a first proof. */
export type ProvenUser = RowOf<typeof SELECT_PROVEN_USER>

/** The user of a first proof; null when the user is locked or deleted. */
export const selectProvenUser = (db: Db, userId: string): Promise<ProvenUser | null> =>
  db.one(SELECT_PROVEN_USER, { userId })
