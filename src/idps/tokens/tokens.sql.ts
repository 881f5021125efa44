import type { Db } from '../../database/handle.ts'
import { type RowOf, statement, type ValuesOf } from '../../database/statement.ts'
import { REFRESH_DEADLINE_MS } from '../provider/provider-deadline.ts'

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

const SELECT_TOKENS = statement({
  takes: { userId: 'text', idpId: 'text' },
  returns: {
    linkId: 'text',
    accessToken: 'text?',
    hasRefreshToken: 'boolean',
    isRefreshing: 'boolean',
    scopes: 'text[]?',
    expiresAt: 'timestamptz?',
  },
})`
  SELECT l."id" AS "linkId", t."accessToken", t."refreshToken" IS NOT NULL AS "hasRefreshToken",
    COALESCE(t."refreshUntil" > now(), false) AS "isRefreshing", t."scopes", t."expiresAt"
  FROM "IdpUser" l LEFT JOIN "IdpUserToken" t ON t."tenantId" = l."tenantId" AND t."linkId" = l."id"
  WHERE l."tenantId" = :tenant AND l."userId" = :userId AND l."idpId" = :idpId`

export type LinkTokens = RowOf<typeof SELECT_TOKENS>

/** The kept tokens of a link, sealed; without an access token if none are kept. Null without a link. One statement. */
export const selectLinkTokens = (
  db: Db,
  target: { userId: string; idpId: string },
): Promise<LinkTokens | null> => db.one(SELECT_TOKENS, { ...target })

/** Longer than a refresh may take, so that a process that stops in between does not hold others up for ever. */
const CLAIM_SECONDS = Math.ceil((1.5 * REFRESH_DEADLINE_MS) / 1000)

const CLAIM = statement({
  takes: { linkId: 'text', refreshId: 'text', staleAt: 'timestamptz', provenAt: 'timestamptz' },
  returns: { refreshToken: 'text' },
})`
  UPDATE "IdpUserToken" t SET "refreshId" = :refreshId, "refreshUntil" = now() + interval '${CLAIM_SECONDS} seconds'
  FROM "IdentityProvider" i
  WHERE t."tenantId" = :tenant AND t."linkId" = :linkId AND t."refreshToken" IS NOT NULL AND t."expiresAt" <= :staleAt
    AND (t."refreshUntil" IS NULL OR t."refreshUntil" <= now())
    AND i."tenantId" = :tenant AND i."id" = t."idpId" AND i."updatedAt" = :provenAt
  RETURNING t."refreshToken"`

/**
 * Claims the refresh of tokens that have expired by `staleAt`, and returns the sealed refresh token. Null while another
 * refresh is under way, and if the provider has been changed since `provenAt`, its updatedAt. One statement.
 */
export const claimRefresh = async (db: Db, claim: ValuesOf<typeof CLAIM>): Promise<string | null> =>
  (await db.one(CLAIM, { ...claim }))?.refreshToken ?? null
