import type { HeldRoles } from '../../core/scopes.ts'
import type { Db } from '../../database/handle.ts'
import { findByKey } from '../../database/key-lookup.ts'
import { type RowOf, statement, typed } from '../../database/statement.ts'
import { buildHeldRolesSql } from '../held-roles.sql.ts'

/**
 * The condition that a key `k` is active, for a statement that left-joins "User" u, its owner. The key of a user in an
 * organization ends with the membership.
 */
export const ACTIVE_KEY_CONDITION = `k."expiresAt" > now() AND (k."userId" IS NULL OR NOT u."locked")
    AND (k."userId" IS NULL OR k."organizationId" IS NULL OR EXISTS (
      SELECT FROM "Membership" m WHERE m."tenantId" = k."tenantId" AND m."organizationId" = k."organizationId" AND m."userId" = k."userId"
    ))`

const SELECT_ACTIVE_KEY = statement({
  shared: true,
  takes: { secretHash: 'bytea' },
  returns: {
    id: 'text',
    userId: 'text?',
    organizationId: 'text?',
    scopes: 'text[]',
    resources: 'text[]',
    allowedNetworks: 'text[]',
    lastUsedAt: 'timestamptz?',
    issuedAt: 'timestamptz',
    expiresAt: 'timestamptz',
    roles: typed<HeldRoles | null>('text[]?'),
  },
})`
  SELECT k."id", k."userId", k."organizationId", k."scopes", k."resources", k."allowedNetworks", k."lastUsedAt", s."createdAt" AS "issuedAt",
    LEAST(k."expiresAt", s."expiresAt") AS "expiresAt", ${buildHeldRolesSql('u')} AS "roles"
  FROM "ApiKeySecret" s
  JOIN LATERAL ${findByKey('ApiKey', { id: 's."apiKeyId"' })} k ON true
  LEFT JOIN LATERAL ${findByKey('User', { id: 'k."userId"' })} u ON true
  WHERE s."tenantId" = :tenant AND s."secretHash" = :secretHash
    AND (s."expiresAt" IS NULL OR s."expiresAt" > now()) AND ${ACTIVE_KEY_CONDITION}`

/** A key that may be used, with the roles of its user. */
export type ActiveKey = RowOf<typeof SELECT_ACTIVE_KEY>

/** Returns the active key with the hash; null without one. One statement. */
export const selectActiveKey = (db: Db, secretHash: Buffer): Promise<ActiveKey | null> =>
  db.one(SELECT_ACTIVE_KEY, { secretHash })

const SELECT_STORED_SECRETS = statement({
  takes: { secretHashes: 'bytea[]' },
  returns: { secretHash: 'bytea' },
})`
  SELECT s."secretHash" FROM unnest(:secretHashes) AS t("secretHash")
  JOIN "ApiKeySecret" s ON s."tenantId" = :tenant AND s."secretHash" = t."secretHash"`

/** Those of the hashes that keys have, also expired ones, in hexadecimal. One statement. */
export const selectStoredSecrets = async (db: Db, secretHashes: Buffer[]): Promise<Set<string>> =>
  new Set(
    (await db.many(SELECT_STORED_SECRETS, { secretHashes })).map(({ secretHash }) =>
      secretHash.toString('hex'),
    ),
  )

const RECORD_USE = statement({ takes: { apiKeyId: 'text' } })`
  UPDATE "ApiKey" SET "lastUsedAt" = now()
  WHERE "tenantId" = :tenant AND "id" = :apiKeyId AND ("lastUsedAt" IS NULL OR "lastUsedAt" < now() - interval '1 minute')`

/** Records that a key was used, unless another process has done so in the last minute. */
export const recordKeyUse = (db: Db, apiKeyId: string): Promise<void> => db.run(RECORD_USE, { apiKeyId })
