import type { Sql } from '../../database/db.ts'
import { type RowOf, statement } from '../../database/statement.ts'

/** The columns of a code, its user and its session that explain a rejection. */
export type CodeDiagnosticsRow = RowOf<typeof SELECT_CODE>

const SELECT_CODE = statement({
  takes: { codeHash: 'bytea' },
  returns: {
    clientId: 'text',
    redirectUri: 'text',
    codeChallenge: 'text?',
    dpopJkt: 'text?',
    usedAt: 'timestamptz?',
    expiresAt: 'timestamptz',
    /** Null when the user has been deleted. */
    locked: 'boolean?',
    endReason: 'text?',
  },
})`
  SELECT c."clientId", c."redirectUri", c."codeChallenge", c."dpopJkt", c."usedAt", c."expiresAt", u."locked", s."endReason"
  FROM "AuthorizationCode" c
  LEFT JOIN "User" u ON u."tenantId" = :tenant AND u."id" = c."userId"
  LEFT JOIN "Session" s ON s."tenantId" = :tenant AND s."id" = c."sessionId"
  WHERE c."tenantId" = :tenant AND c."codeHash" = :codeHash`

/** A code of any client, in any state; null when it does not exist. */
export const selectCodeDiagnostics = (
  sql: Sql,
  tenant: string,
  codeHash: Buffer,
): Promise<CodeDiagnosticsRow | null> => SELECT_CODE.first(sql, { tenant, codeHash })

/** The columns of a grant and its user that explain a rejection. */
export type GrantDiagnosticsRow = RowOf<typeof SELECT_GRANT>

const SELECT_GRANT = statement({
  takes: { grantId: 'text', secretHash: 'bytea' },
  returns: {
    clientId: 'text',
    scopes: 'text[]',
    generation: 'int',
    dpopJkt: 'text?',
    revokedAt: 'timestamptz?',
    idleExpiresAt: 'timestamptz',
    expiresAt: 'timestamptz',
    locked: 'boolean',
  },
})`
  SELECT g."clientId", g."scopes", g."generation", g."dpopJkt", g."revokedAt", g."idleExpiresAt", g."expiresAt", u."locked"
  FROM "Grant" g JOIN "User" u ON u."tenantId" = :tenant AND u."id" = g."userId"
  WHERE g."tenantId" = :tenant AND g."id" = :grantId AND g."secretHash" = :secretHash`

/** The grant of a refresh token, in any state; null when it does not exist. */
export const selectGrantDiagnostics = (
  sql: Sql,
  tenant: string,
  { grantId, secretHash }: { grantId: string; secretHash: Buffer },
): Promise<GrantDiagnosticsRow | null> => SELECT_GRANT.first(sql, { tenant, grantId, secretHash })
