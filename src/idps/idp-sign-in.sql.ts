import type { Db } from '../database/handle.ts'
import { statement } from '../database/statement.ts'

const FIND_LINKED_USER = statement({
  takes: { idpId: 'text', issuer: 'text', externalId: 'text' },
  returns: { userId: 'text' },
})`
  SELECT "userId" FROM "IdpUser"
  WHERE "tenantId" = :tenant AND "idpId" = :idpId AND "issuer" = :issuer AND "externalId" = :externalId`

/** The key of an identity at a provider of the tenant. */
export type IdentityKey = { idpId: string; issuer: string; externalId: string }

/** The user to whom an identity is linked; null without one. */
export const selectLinkedUserId = async (
  db: Db,
  { idpId, issuer, externalId }: IdentityKey,
): Promise<string | null> => (await db.one(FIND_LINKED_USER, { idpId, issuer, externalId }))?.userId ?? null

// The link may have been removed, or the provider changed, since the identity was proven.
const USE_LINK = statement({
  takes: {
    userId: 'text',
    idpId: 'text',
    issuer: 'text',
    externalId: 'text',
    provenAt: 'timestamptz',
    now: 'timestamptz',
  },
  returns: { id: 'text' },
})`
  UPDATE "IdpUser" l SET "lastLoginAt" = :now
  FROM "IdentityProvider" i
  WHERE l."tenantId" = :tenant AND l."userId" = :userId AND l."idpId" = :idpId AND l."issuer" = :issuer
    AND l."externalId" = :externalId AND i."tenantId" = :tenant AND i."id" = :idpId AND i."updatedAt" = :provenAt
  RETURNING l."id"`

/**
 * Records the use of a locked user's link. False when the link is gone, or the provider has changed since
 * `provenAt`, its updatedAt.
 */
export const useLink = async (
  db: Db,
  use: IdentityKey & { userId: string; provenAt: Date; now: Date },
): Promise<boolean> => (await db.one(USE_LINK, { ...use })) !== null
