import type { Db } from '../../database/handle.ts'
import { statement, type ValuesOf } from '../../database/statement.ts'

// FOR SHARE waits for a change of the provider, and then finds no row.
const LOCK_KEEPER = statement({
  takes: { userId: 'text', idpId: 'text', issuer: 'text', externalId: 'text', provenAt: 'timestamptz' },
  returns: { id: 'text' },
})`
  SELECT l."id" FROM "IdentityProvider" i
  JOIN "IdpUser" l ON l."tenantId" = i."tenantId" AND l."idpId" = i."id" AND l."userId" = :userId
    AND l."issuer" = :issuer AND l."externalId" = :externalId
  WHERE i."tenantId" = :tenant AND i."id" = :idpId AND i."keepTokens" AND i."updatedAt" = :provenAt FOR SHARE OF i`

/**
 * Locks a provider that keeps tokens, and returns the id of the link of a locked user; null without one, or if the
 * provider has been changed since `provenAt`, its updatedAt.
 */
export const lockTokenKeeper = async (db: Db, use: ValuesOf<typeof LOCK_KEEPER>): Promise<string | null> =>
  (await db.one(LOCK_KEEPER, { ...use }))?.id ?? null

// A refresh that is under way is void if it uses a refresh token that is replaced.
const UPSERT = statement({
  takes: {
    linkId: 'text',
    idpId: 'text',
    accessToken: 'text',
    refreshToken: 'text?',
    scopes: 'text[]',
    expiresAt: 'timestamptz?',
  },
})`
  INSERT INTO "IdpUserToken" AS t ("tenantId", "linkId", "idpId", "accessToken", "refreshToken", "scopes", "expiresAt")
  VALUES (:tenant, :linkId, :idpId, :accessToken, :refreshToken, :scopes, :expiresAt)
  ON CONFLICT ("tenantId", "linkId") DO UPDATE
  SET "accessToken" = EXCLUDED."accessToken", "refreshToken" = COALESCE(EXCLUDED."refreshToken", t."refreshToken"),
    "scopes" = EXCLUDED."scopes", "expiresAt" = EXCLUDED."expiresAt",
    "refreshId" = CASE WHEN EXCLUDED."refreshToken" IS NULL THEN t."refreshId" END,
    "refreshUntil" = CASE WHEN EXCLUDED."refreshToken" IS NULL THEN t."refreshUntil" END`

/** Writes the sealed tokens of a link. One statement. */
export const upsertTokens = (db: Db, tokens: ValuesOf<typeof UPSERT>): Promise<void> =>
  db.run(UPSERT, { ...tokens })

const DELETE_OF_IDP = statement({
  takes: { idpId: 'text', afterLinkId: 'text', limit: 'int' },
  returns: { count: 'int', lastLinkId: 'text?' },
})`
  WITH batch AS (
    SELECT "linkId" FROM "IdpUserToken" WHERE "tenantId" = :tenant AND "idpId" = :idpId AND "linkId" > :afterLinkId
    ORDER BY "linkId" LIMIT :limit
  ), deleted AS (
    DELETE FROM "IdpUserToken" WHERE "tenantId" = :tenant AND "linkId" IN (SELECT "linkId" FROM batch)
  )
  SELECT count(*)::int AS "count", max("linkId") AS "lastLinkId" FROM batch`

/** Tokens of one statement: a provider may have very many, and a statement has 10 s. */
const TOKEN_BATCH = 20_000

/** Deletes all tokens of a locked provider. */
export async function deleteIdpTokens(db: Db, idpId: string): Promise<void> {
  let afterLinkId: string | null = ''
  while (afterLinkId !== null) {
    const batch: { count: number; lastLinkId: string | null } | null = await db.one(DELETE_OF_IDP, {
      idpId,
      afterLinkId,
      limit: TOKEN_BATCH,
    })
    afterLinkId = batch?.count === TOKEN_BATCH ? batch.lastLinkId : null
  }
}
