import { insertEventsSql } from '../../events.sql.ts'
import { rememberClientsSql } from '../../sessions/session-clients.sql.ts'

/** What a grant is made with. */
export type GrantTerms = {
  /** The key that its refresh tokens are bound to. */
  grantDpopJkt: string | null
  /** SHA-256 of the secret of the refresh tokens, for grants with offline_access. */
  secretHash: Buffer
  now: Date
  /** When the last access token of a grant without refresh tokens ends. */
  onlineExpiresAt: Date
  idleExpiresAt: Date
  expiresAt: Date
}

/** The grant that somebody's permission became. */
export type NewGrant<Claims> = {
  grantId: string
  userId: string
  sessionId: string
  scopes: string[]
  resources: string[]
  claims: Claims | null
  nonce: string | null
  authenticatedAt: Date
  amr: string[]
  offline: boolean
  roles: string[]
}

/** The values of `NEW_GRANT`, which stand from `$2` on. */
export const newGrantValues = (terms: GrantTerms, event: object): unknown[] => [
  terms.now,
  terms.secretHash,
  terms.idleExpiresAt,
  terms.expiresAt,
  terms.onlineExpiresAt,
  terms.grantDpopJkt,
  JSON.stringify([event]),
]

/**
 * Parts of a WITH that make a grant, `granted`, with its event, in the statement that uses up what permits it. Before them
 * stand `person`, which has the columns of a `NewGrant` and "clientId" and holds the rows of the user and the session,
 * and `used`, which has the "grantId" if it is this statement that used it up. The tenant is `$1`; `$2` to `$8` are
 * `newGrantValues`.
 */
export const NEW_GRANT = `granted AS (
    INSERT INTO "Grant" ("tenantId", "id", "clientId", "userId", "sessionId", "scopes", "resources", "claims", "dpopJkt", "offline",
      "secretHash", "authenticatedAt", "amr", "idleExpiresAt", "expiresAt", "createdAt")
    SELECT $1, p."grantId", p."clientId", p."userId", p."sessionId", p."scopes", p."resources", p."claims", $7::text,
      p."offline", CASE WHEN p."offline" THEN $3::bytea END, p."authenticatedAt", p."amr",
      CASE WHEN p."offline" THEN $4::timestamptz ELSE $6::timestamptz END,
      CASE WHEN p."offline" THEN $5::timestamptz ELSE $6::timestamptz END, $2::timestamptz
    FROM person p JOIN used ON used."grantId" = p."grantId"
    RETURNING "id", "userId", "sessionId", "clientId"
  ), remembered AS (${rememberClientsSql('granted')}
  ), told AS (${insertEventsSql('$8', {
    from: 'granted',
    columns: {
      userId: 'granted."userId"',
      sessionId: 'granted."sessionId"',
      subjectIds: 'ARRAY[granted."id", granted."clientId"]',
    },
  })})`
