import type { Sql } from '../../database/db.ts'
import { findByKey } from '../../database/key-lookup.ts'
import { type RowOf, statement, typed } from '../../database/statement.ts'
import type { SessionProof } from '../../sessions/proofs.ts'
import {
  BROWSER_SESSION_PARAMETERS,
  type BrowserSessionValues,
  WITH_BROWSER_SESSION,
} from '../../sessions/session-use.sql.ts'

/** The user who is signed in to this browser, and their consent for one client. */
export type SignInState = RowOf<typeof SELECT_SIGN_IN_STATE>

/** What a sign-in state has of the user `u` and of the consent `k`. */
export const PERSON_COLUMNS = `u."roles", u."name", u."email", u."phoneNumber", u."locale", u."passkeyOfferedAt", u."hasSecondFactor",
    u."termsVersion",
    k."scopes" AS "consentedScopes", k."claims" AS "consentedClaims"`

/** The columns as a statement returns them. */
export const PERSON_RETURNS = {
  roles: 'text[]',
  name: 'text?',
  email: 'text?',
  phoneNumber: 'text?',
  locale: 'text?',
  passkeyOfferedAt: 'timestamptz?',
  hasSecondFactor: 'boolean',
  termsVersion: 'text?',
  /** Null when there is no consent yet. */
  consentedScopes: 'text[]?',
  consentedClaims: 'text[]?',
} as const

/** What a sign-in state has of the session. */
export const SESSION_STATE_RETURNS = {
  id: 'text',
  userId: 'text',
  authenticatedAt: 'timestamptz',
  proofs: typed<SessionProof[]>('jsonb'),
  amr: 'text[]',
  lastSeenAt: 'timestamptz?',
} as const

const SELECT_SIGN_IN_STATE = statement({
  takes: { ...BROWSER_SESSION_PARAMETERS, clientId: 'text' },
  returns: {
    ...SESSION_STATE_RETURNS,
    ...PERSON_RETURNS,
  },
})`${WITH_BROWSER_SESSION}
  SELECT found."id", found."userId", found."authenticatedAt", found."proofs", found."amr", found."lastSeenAt",
    ${PERSON_COLUMNS}
  FROM found JOIN "User" u ON u."tenantId" = :tenant AND u."id" = found."userId"
  LEFT JOIN LATERAL ${findByKey('Consent', { userId: 'found."userId"', clientId: ':clientId' })} k ON true`

/** The session of the browser, its user and the user's consent for the client: one statement. */
export const selectSignInState = (
  sql: Sql,
  session: BrowserSessionValues,
  clientId: string,
): Promise<SignInState | null> => SELECT_SIGN_IN_STATE.first(sql, { ...session, clientId })
