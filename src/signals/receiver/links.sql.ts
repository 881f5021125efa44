import type { Db } from '../../database/handle.ts'
import { statement } from '../../database/statement.ts'

/** Linked identities of one address, at most. */
const MAX_LINKS = 20

const SELECT_LINKS = statement({
  takes: { idpId: 'text', email: 'text' },
  returns: { issuer: 'text', subject: 'text' },
})`
  SELECT l."issuer", l."externalId" AS "subject" FROM "IdpUser" l
  JOIN "User" u ON u."tenantId" = :tenant AND u."id" = l."userId" AND u."emailVerified"
  WHERE l."tenantId" = :tenant AND l."idpId" = :idpId AND u."emailKey" = :email ORDER BY l."id" LIMIT ${MAX_LINKS}`

/** The identities at a provider that are linked to the user with a verified address. */
export const selectLinksByEmail = (db: Db, values: { idpId: string; email: string }) =>
  db.many(SELECT_LINKS, values)

const SET_DISABLED = statement({
  takes: { idpId: 'text', issuer: 'text', subject: 'text', at: 'timestamptz', isDisabled: 'boolean' },
  returns: { id: 'text', userId: 'text' },
})`
  UPDATE "IdpUser" SET "disabledAt" = CASE WHEN :isDisabled THEN :at END, "updatedAt" = now()
  WHERE "tenantId" = :tenant AND "idpId" = :idpId AND "issuer" = :issuer AND "externalId" = :subject
    AND CASE WHEN :isDisabled THEN "disabledAt" IS NULL OR "disabledAt" < :at ELSE "disabledAt" <= :at END
  RETURNING "id", "userId"`

/**
 * Notes that the provider disabled or enabled an account at a time; null without a link, and for a signal that is older than
 * the one that was noted.
 */
export const setLinkDisabled = (
  tx: Db,
  values: { idpId: string; issuer: string; subject: string; at: Date; isDisabled: boolean },
) => tx.one(SET_DISABLED, values)
