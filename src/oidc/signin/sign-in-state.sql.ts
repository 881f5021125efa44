import type { Sql, SqlValues } from '../../db.ts'
import { WITH_BROWSER_SESSION } from '../../sessions/session-use.sql.ts'

/** Who is signed in with this browser, and what they have agreed to for one client. */
export type SignInState = {
  id: string
  userId: string
  authenticatedAt: Date
  roles: string[]
  name: string | null
  email: string | null
  phoneNumber: string | null
  /** Null when the person has agreed to nothing yet. */
  consentedScopes: string[] | null
  consentedClaims: string[] | null
}

const SELECT_SIGN_IN_STATE = `${WITH_BROWSER_SESSION}
  SELECT found."id", found."userId", found."authenticatedAt", u."roles", u."name", u."email", u."phoneNumber",
    k."scopes" AS "consentedScopes", k."claims" AS "consentedClaims"
  FROM found JOIN "User" u ON u."tenantId" = $1 AND u."id" = found."userId"
  LEFT JOIN "Consent" k ON k."tenantId" = $1 AND k."userId" = found."userId" AND k."clientId" = $9`

/** The browser's session (as `browserSessionValues` names it), its person and the consent for the client: one statement. */
export async function selectSignInState(
  sql: Sql,
  sessionValues: SqlValues,
  clientId: string,
): Promise<SignInState | null> {
  const [row] = await sql<SignInState>(SELECT_SIGN_IN_STATE, [...sessionValues, clientId])
  return row ?? null
}
