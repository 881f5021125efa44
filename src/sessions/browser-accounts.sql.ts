import { storedColumns } from '../database/columns.ts'
import type { Db } from '../database/handle.ts'
import { statement } from '../database/statement.ts'

/** Parameters of BROWSER_ACCOUNTS_FROM. */
export const BROWSER_ACCOUNTS_PARAMETERS = { tokenHashes: 'bytea[]', now: 'timestamptz' } as const

/** Whether the session `s` is active. The user `u` is not locked. */
export const IS_ACTIVE = `s."endedAt" IS NULL AND s."expiresAt" > :now`

/** The browser sessions `s` with one of the tokens, ended ones included, and their users `u`. */
export const BROWSER_ACCOUNTS_FROM = `FROM "Session" s JOIN "User" u ON u."tenantId" = :tenant AND u."id" = s."userId" AND NOT u."locked"`
export const BROWSER_ACCOUNTS_WHERE = `s."tenantId" = :tenant AND s."tokenHash" = ANY(:tokenHashes) AND s."kind" = 'browser'`

const SELECT_BROWSER_ACCOUNTS = statement({
  takes: BROWSER_ACCOUNTS_PARAMETERS,
  returns: {
    ...storedColumns('Session', ['id', 'userId', 'lastSeenAt']),
    ...storedColumns('User', ['name', 'email', 'phoneNumber']),
    tokenHash: 'bytea',
    isActive: 'boolean',
  },
})`
  SELECT s."id", s."userId", s."lastSeenAt", u."name", u."email", u."phoneNumber", s."tokenHash", ${IS_ACTIVE} AS "isActive"
  ${BROWSER_ACCOUNTS_FROM} WHERE ${BROWSER_ACCOUNTS_WHERE}`

/** The sessions of a browser's tokens, and the names of their users. Reads only. */
export const selectBrowserAccounts = (db: Db, tokenHashes: Buffer[], now: Date) =>
  db.many(SELECT_BROWSER_ACCOUNTS, { tokenHashes, now })
