import type { Sql } from '../../database/db.ts'
import { type RowOf, statement } from '../../database/statement.ts'
import {
  BROWSER_ACCOUNTS_FROM,
  BROWSER_ACCOUNTS_PARAMETERS,
  BROWSER_ACCOUNTS_WHERE,
  IS_ACTIVE,
} from '../../sessions/browser-accounts.sql.ts'
import { SIGN_IN_STATE_COLUMNS, SIGN_IN_STATE_RETURNS } from './sign-in-state.sql.ts'

const SELECT_BROWSER_SIGN_INS = statement({
  shared: true,
  takes: { ...BROWSER_ACCOUNTS_PARAMETERS, clientId: 'text' },
  returns: {
    ...SIGN_IN_STATE_RETURNS,
    tokenHash: 'bytea',
    isActive: 'boolean',
    /** Whether the client has a grant in this session. */
    isOfClient: 'boolean',
  },
})`
  SELECT ${SIGN_IN_STATE_COLUMNS}, s."tokenHash", ${IS_ACTIVE} AS "isActive",
    EXISTS (
      SELECT FROM "Grant" g WHERE g."tenantId" = :tenant AND g."sessionId" = s."id" AND g."clientId" = :clientId AND g."revokedAt" IS NULL
    ) AS "isOfClient"
  ${BROWSER_ACCOUNTS_FROM}
  LEFT JOIN "Consent" k ON k."tenantId" = :tenant AND k."userId" = s."userId" AND k."clientId" = :clientId
  WHERE ${BROWSER_ACCOUNTS_WHERE}`

/** The sessions of a browser's tokens with what a sign-in state has: one statement. Reads only. */
export const selectBrowserSignIns = (
  sql: Sql,
  tenant: string,
  tokenHashes: Buffer[],
  clientId: string,
  now: Date,
): Promise<RowOf<typeof SELECT_BROWSER_SIGN_INS>[]> =>
  SELECT_BROWSER_SIGN_INS.all(sql, { tenant, tokenHashes, clientId, now })
