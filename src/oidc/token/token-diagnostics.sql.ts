import type { Db } from '../../database/handle.ts'
import { type RowOf, statement } from '../../database/statement.ts'
import type { CodeContents } from './sealed-codes.ts'

/** What explains the rejection of a code: its grant, its user and its session. */
export type CodeStateRow = RowOf<typeof SELECT_CODE_STATE>

const SELECT_CODE_STATE = statement({
  takes: {
    grantId: 'text',
    userId: 'text',
    sessionId: 'text',
    clientId: 'text',
    codeGeneration: 'int',
  },
  returns: {
    /** When the grant was created; null when the code was not used. */
    usedAt: 'timestamptz?',
    /** Null when the user has been deleted. */
    locked: 'boolean?',
    /** The codes of its generation, of the user or of the client, are void. */
    isVoid: 'boolean',
    isSessionActive: 'boolean',
    endReason: 'text?',
  },
})`
  SELECT g."createdAt" AS "usedAt", u."locked", 
    u."codeGeneration" + c."codeGeneration" IS DISTINCT FROM :codeGeneration AS "isVoid",
    COALESCE(s."endedAt" IS NULL AND s."expiresAt" > now(), false) AS "isSessionActive", s."endReason"
  FROM (SELECT) code
  LEFT JOIN "Grant" g ON g."tenantId" = :tenant AND g."id" = :grantId
  LEFT JOIN "User" u ON u."tenantId" = :tenant AND u."id" = :userId
  LEFT JOIN "Client" c ON c."tenantId" = :tenant AND c."id" = :clientId
  LEFT JOIN "Session" s ON s."tenantId" = :tenant AND s."id" = :sessionId`

/** The state of what a code depends on. */
export async function selectCodeState(db: Db, contents: CodeContents): Promise<CodeStateRow> {
  const { grantId, userId, sessionId, clientId, codeGeneration } = contents
  const row = await db.one(SELECT_CODE_STATE, {
    ...{ grantId, userId, sessionId, clientId, codeGeneration },
  })
  return row as CodeStateRow
}

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
  db: Db,
  { grantId, secretHash }: { grantId: string; secretHash: Buffer },
): Promise<GrantDiagnosticsRow | null> => db.one(SELECT_GRANT, { grantId, secretHash })
