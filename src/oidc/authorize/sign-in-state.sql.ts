import { buildHeldRolesSql, HELD_ROLES } from '../../access/held-roles.sql.ts'
import { TENANT_IDP_COLUMNS } from '../../access/tenant.sql.ts'
import {
  PASSKEY_COLUMNS,
  PASSKEY_RETURNS,
  type StoredPasskey,
} from '../../credentials/passkeys/passkeys.sql.ts'
import { storedColumns } from '../../database/columns.ts'
import type { Db } from '../../database/handle.ts'
import { findByKey } from '../../database/key-lookup.ts'
import { type RowOf, statement, typed } from '../../database/statement.ts'
import { POLICY_RULES } from '../../model/organization-policy.ts'
import {
  BROWSER_ACCOUNTS_FROM,
  BROWSER_ACCOUNTS_PARAMETERS,
  BROWSER_ACCOUNTS_WHERE,
  IS_ACTIVE,
} from '../../sessions/browser-accounts.sql.ts'
import {
  BROWSER_SESSION_CONDITION,
  BROWSER_SESSION_FROM,
  BROWSER_SESSION_PARAMETERS,
  USE_COLUMNS,
  USE_RETURNS,
} from '../../sessions/browser-session-use.sql.ts'
import type { SessionProof } from '../../sessions/proofs.ts'
import type { OrganizationDemand, OwnOrganization } from '../model/authorize-request.ts'

/** The user who is signed in to this browser, and their consent for one client. */
export type SignInState = RowOf<typeof SELECT_SIGN_IN_STATE>

/** Organizations that a page lists, and identity providers of each. */
const MAX_ORGANIZATIONS = 200
const MAX_IDPS = 10

const ORGANIZATION_COLUMNS = ['id', 'slug', 'name', ...POLICY_RULES]

/** The organizations of the user `u` as `OwnOrganization[]`, if `condition` holds: that which is `named`, or all. */
const buildOrganizationsSql = (condition: string, named: string): string => `CASE WHEN ${condition} THEN (
    SELECT jsonb_agg(jsonb_build_object(${ORGANIZATION_COLUMNS.map((name) => `'${name}', own."${name}"`).join(', ')},
      'idps', CASE WHEN 'provider' = ANY (own."signInMethods") THEN (
        SELECT jsonb_agg(i) FROM (
          SELECT ${TENANT_IDP_COLUMNS} FROM "IdentityProvider"
          WHERE "tenantId" = :tenant AND "organizationId" = own."id" ORDER BY "id" LIMIT ${MAX_IDPS}
        ) i
      ) END) ORDER BY own."name", own."id") FROM (
      SELECT ${ORGANIZATION_COLUMNS.map((name) => `o."${name}"`).join(', ')} FROM "Membership" m
      JOIN "Organization" o ON o."tenantId" = :tenant AND o."id" = m."organizationId"
      WHERE m."tenantId" = :tenant AND m."userId" = u."id" AND (${named} IS NULL OR o."id" = ${named} OR o."slug" = ${named})
      ORDER BY o."name", o."id" LIMIT ${MAX_ORGANIZATIONS}
    ) own
  ) END`

/**
 * What a sign-in state has of the user `u` and of the consent `k`. The organizations are read only if the request demands one:
 * that which it names, or all of the user.
 */
const buildPersonColumns = (
  demandsOrganization: string,
  named: string,
) => `${buildHeldRolesSql('u')} AS "roles", u."name", u."email", u."phoneNumber", u."locale", u."passkeyOfferedAt", u."hasSecondFactor",
    u."termsVersion", u."codeGeneration",
    k."scopes" AS "consentedScopes", k."claims" AS "consentedClaims", k."resources" AS "consentedResources",
    ${buildOrganizationsSql(demandsOrganization, named)} AS "organizations"`

/** The columns as a statement returns them. */
const PERSON_RETURNS = {
  roles: HELD_ROLES,
  name: 'text?',
  email: 'text?',
  phoneNumber: 'text?',
  locale: 'text?',
  passkeyOfferedAt: 'timestamptz?',
  hasSecondFactor: 'boolean',
  termsVersion: 'text?',
  codeGeneration: 'int',
  /** Null when there is no consent yet. */
  consentedScopes: 'text[]?',
  consentedClaims: 'text[]?',
  consentedResources: 'text[]?',
  /** Null when there are none, or none is demanded. */
  organizations: typed<OwnOrganization[] | null>('jsonb?'),
} as const

/** What a sign-in state has of the session, besides its use. */
const SESSION_STATE_RETURNS = {
  authenticatedAt: 'timestamptz',
  proofs: typed<SessionProof[]>('jsonb'),
  amr: 'text[]',
  lastSeenAt: 'timestamptz?',
  /** The organization that the user last chose in this session. */
  lastOrganizationId: 'text?',
} as const

/** The columns of a sign-in state. The user is `u`, the session `s`, and the consent `k`. */
const SIGN_IN_STATE_COLUMNS = `${USE_COLUMNS}, s."authenticatedAt", s."proofs", s."amr", s."lastSeenAt",
    s."organizationId" AS "lastOrganizationId", ${buildPersonColumns(':demandsOrganization', ':organization')}`
const SIGN_IN_STATE_RETURNS = { ...USE_RETURNS, ...SESSION_STATE_RETURNS, ...PERSON_RETURNS } as const

/** The consent of the user for the client, if any. */
const LEFT_JOIN_CONSENT = `
  LEFT JOIN LATERAL ${findByKey('Consent', { userId: 'u."id"', clientId: ':clientId' })} k ON true`

/** For which client a state is read, and which organization its request demands. */
type ClientDemand = { clientId: string; demand: OrganizationDemand | null | undefined }
const DEMAND_PARAMETERS = { demandsOrganization: 'boolean', organization: 'text?' } as const
const CLIENT_PARAMETERS = { clientId: 'text', ...DEMAND_PARAMETERS } as const
const toParameters = (demand: ClientDemand['demand']) => ({
  demandsOrganization: Boolean(demand),
  organization: demand?.named ?? null,
})

const SELECT_SIGN_IN_STATE = statement({
  shared: true,
  takes: { ...BROWSER_SESSION_PARAMETERS, ...CLIENT_PARAMETERS },
  returns: SIGN_IN_STATE_RETURNS,
})`
  SELECT ${SIGN_IN_STATE_COLUMNS} ${BROWSER_SESSION_FROM} ${LEFT_JOIN_CONSENT}
  WHERE ${BROWSER_SESSION_CONDITION}`

/** The session of the browser, its user and the user's consent for the client: one statement, which only reads. */
export const selectSignInState = (
  db: Db,
  { demand, ...values }: ClientDemand & { tokenHash: Buffer; now: Date },
): Promise<SignInState | null> => db.one(SELECT_SIGN_IN_STATE, { ...values, ...toParameters(demand) })

const SELECT_BROWSER_SIGN_INS = statement({
  shared: true,
  takes: { ...BROWSER_ACCOUNTS_PARAMETERS, ...CLIENT_PARAMETERS },
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
  db: Db,
  { demand, ...values }: ClientDemand & { tokenHashes: Buffer[]; now: Date },
) => db.many(SELECT_BROWSER_SIGN_INS, { ...values, ...toParameters(demand) })

const SELECT_PROVEN_USER = statement({
  takes: { userId: 'text' },
  returns: {
    userId: 'text',
    roles: HELD_ROLES,
    name: 'text?',
    email: 'text?',
    phoneNumber: 'text?',
    locale: 'text?',
    hasSecondFactor: 'boolean',
  },
})`
  SELECT "id" AS "userId", ${buildHeldRolesSql('"User"')} AS "roles", "name", "email", "phoneNumber", "locale", "hasSecondFactor" FROM "User"
  WHERE "tenantId" = :tenant AND "id" = :userId AND NOT "locked"`

/** The user of a first proof. */
export type ProvenUser = RowOf<typeof SELECT_PROVEN_USER>

/** The user of a first proof; null when the user is locked or deleted. */
export const selectProvenUser = (db: Db, userId: string): Promise<ProvenUser | null> =>
  db.one(SELECT_PROVEN_USER, { userId })

const SELECT_WITH_PASSKEY = statement({
  takes: { handleHash: 'bytea', externalId: 'text' },
  returns: {
    ...storedColumns('Interaction', ['browserHash', 'request', 'progress', 'expiresAt']),
    ...PASSKEY_RETURNS,
    ...PERSON_RETURNS,
  },
})`
  SELECT i."browserHash", i."request", i."progress", i."expiresAt", ${PASSKEY_COLUMNS},
    ${buildPersonColumns(`jsonb_typeof(i."request"->'organization') = 'object'`, `(i."request"->'organization'->>'named')`)}
  FROM "Interaction" i
  JOIN "Credential" c ON c."tenantId" = :tenant AND c."externalId" = :externalId
  JOIN "User" u ON u."tenantId" = :tenant AND u."id" = c."userId"
  LEFT JOIN LATERAL ${findByKey('Consent', { userId: 'u."id"', clientId: 'i."clientId"' })} k ON true
  WHERE i."tenantId" = :tenant AND i."handleHash" = :handleHash`

/** A passkey that a browser presents, with its user and the user's consent for the client of the interaction. */
export type PresentedPasskey = StoredPasskey & RowOf<{ returns: typeof PERSON_RETURNS }>

/** An interaction and the passkey with a credential id of WebAuthn; null unless both are stored. One statement. */
export const selectWithPasskey = (db: Db, handleHash: Buffer, externalId: string) =>
  db.one(SELECT_WITH_PASSKEY, { handleHash, externalId })

const SELECT_ORGANIZATIONS = statement({
  takes: { userId: 'text', ...DEMAND_PARAMETERS },
  returns: { organizations: typed<OwnOrganization[] | null>('jsonb?') },
})`
  SELECT ${buildOrganizationsSql(':demandsOrganization', ':organization')} AS "organizations"
  FROM "User" u WHERE u."tenantId" = :tenant AND u."id" = :userId`

/** The organizations of a user among which a request may choose; null without any. One statement, none without a demand. */
export const selectOrganizations = async (
  db: Db,
  userId: string,
  demand: ClientDemand['demand'],
): Promise<OwnOrganization[] | null> =>
  demand
    ? ((await db.one(SELECT_ORGANIZATIONS, { userId, ...toParameters(demand) }))?.organizations ?? null)
    : null
