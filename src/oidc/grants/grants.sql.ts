import type { EffectiveAccess } from '../../access/effective-access.sql.ts'
import { buildHeldRolesSql, HELD_ROLES } from '../../access/held-roles.sql.ts'
import { storedColumns } from '../../database/columns.ts'
import type { Db } from '../../database/handle.ts'
import { checkFoundRow } from '../../database/key-lookup.ts'
import { type RowOf, statement, typed } from '../../database/statement.ts'
import { toGrantEventColumns } from '../../events/event-columns.sql.ts'
import { buildInsertEventsSql } from '../../events/log.sql.ts'
import { buildInsertSessionOrganizationSql } from '../../sessions/session-organizations.sql.ts'
import type { ClaimsRequest } from '../model/claims-request.ts'
import {
  buildClaimsUserSql,
  CLAIMS_PARAMETERS,
  type ClaimsReading,
  type ClaimsUserJson,
} from '../token/granted-user.sql.ts'
import {
  buildGrantAccessSql,
  buildGrantApisSql,
  buildTokenOrganizationSql,
  GRANT_ACCESS_PARAMETERS,
  type TokenOrganization,
} from '../token/new-grant.sql.ts'

/** A refresh token whose MAC is valid, with the request that presents it. */
export type PresentedToken = {
  grantId: string
  generation: number
  secretHash: Buffer
  clientId: string
  /** The scope parameter; null when the request has none. */
  scopes: string[] | null
  /** The id or slug of the organization that the request names; null for that of the grant. */
  organization: string | null
  /** Whether the client gets tokens for the organization of the grant only. */
  keepsOrganization: boolean
  /** Whether the client gets no tokens without an organization. */
  requiresOrganization: boolean
  /** The address of the caller, if it is the device of the user. */
  deviceIp: string | null
  /** The APIs that the request selects, and the one of tokens for none. */
  apis: string[] | null
  defaultApi: string | null
  /** Thumbprint of the key of the verified DPoP proof. */
  dpopJkt: string | null
  now: Date
  /** The previous generation counts as a retry when it was rotated at or after this time. */
  retryFrom: Date
  idleExpiresAt: Date
  /** What is read of the user; the claims are read in any case when the grant requests claims. */
  reading: ClaimsReading
  /** Whether the token is replaced. */
  rotates: boolean
  /** Whether a token without a binding is rejected. */
  mustBeBound: boolean
}

/**
 * The grant of a refresh token. Its `outcome` is normally `rotated`, or `kept` without rotation; `repeated` is a retry,
 * `replayed` the use of an older token, after which the caller revokes the grant.
 */
export type RefreshedGrant = RowOf<typeof REFRESH_GRANT>

/** The organization that a request names, or that of the grant. */
const ORGANIZATION = buildTokenOrganizationSql(
  'u."id"',
  'COALESCE(:organization, g."organizationId")',
  { authenticatedAt: 'g."authenticatedAt"', amr: 'g."amr"' },
  ':organization',
)

const ORGANIZATION_ID = `((${ORGANIZATION})->>'id')`

const INSERT_ORGANIZATION = buildInsertSessionOrganizationSql(
  'used',
  'used JOIN presented p ON p."formerOrganizationId" IS DISTINCT FROM used."organizationId"',
)
const INSERT_EVENT = buildInsertEventsSql(':events', {
  from: 'used JOIN presented p ON p."isRecorded"',
  columns: toGrantEventColumns('used'),
})

// The row lock serializes requests: the second waits and then sees the row as the first left it. The client may stop to
// rotate between a rotation and its retry: the retry is answered alike. Once the successor was used, an older token is a
// replay. A use that keeps the token has the generation of the rotation before it: its time without use ends 1 ms earlier.
const REFRESH_GRANT = statement({
  takes: {
    grantId: 'text',
    generation: 'int',
    secretHash: 'bytea',
    clientId: 'text',
    scopes: 'text[]?',
    organization: 'text?',
    keepsOrganization: 'boolean',
    requiresOrganization: 'boolean',
    deviceIp: 'text?',
    dpopJkt: 'text?',
    now: 'timestamptz',
    retryFrom: 'timestamptz',
    idleExpiresAt: 'timestamptz',
    ...CLAIMS_PARAMETERS,
    ...GRANT_ACCESS_PARAMETERS,
    rotates: 'boolean',
    mustBeBound: 'boolean',
    events: 'jsonb',
  },
  returns: {
    ...storedColumns('Grant', [
      'id',
      'userId',
      'sessionId',
      'clientId',
      'scopes',
      'resources',
      'defaultAudience',
      'authenticatedAt',
      'amr',
    ]),
    claims: typed<ClaimsRequest | null>('jsonb?'),
    organizationId: 'text?',
    /** That of the grant before this request. */
    formerOrganizationId: 'text?',
    organization: typed<TokenOrganization | null>('jsonb?'),
    /** Whether the user and the client may have tokens for the organization, or for none. */
    isPermitted: 'boolean',
    roles: HELD_ROLES,
    access: typed<EffectiveAccess | null>('jsonb?'),
    claimsUser: typed<ClaimsUserJson | null>('jsonb?'),
    outcome: typed<'rotated' | 'kept' | 'repeated' | 'replayed'>('text'),
    /** Whether the use records its event: only the first of a grant in each clock hour does. */
    isRecorded: 'boolean',
  },
  hasInserted: ([row]) =>
    row?.isRecorded === true && row.isPermitted && (row.outcome === 'rotated' || row.outcome === 'kept'),
})`
  WITH found AS MATERIALIZED (
    SELECT g."id", g."userId", g."sessionId", g."clientId", g."scopes", g."resources", g."defaultAudience", g."claims", g."authenticatedAt", g."amr",
      COALESCE(:organization, g."organizationId") AS "organizationId",
      ${ORGANIZATION} AS "organization",
      ${buildGrantAccessSql('g', ORGANIZATION_ID)} AS "access", g."organizationId" AS "formerOrganizationId",
      ${buildHeldRolesSql('u')} AS "roles", ${buildClaimsUserSql(':withClaims OR g."claims" IS NOT NULL', buildGrantApisSql('g'), ORGANIZATION_ID)} AS "claimsUser",
      CASE
        WHEN g."generation" = :generation AND :rotates THEN 'rotated'
        WHEN g."generation" = :generation THEN 'kept'
        WHEN g."generation" = :generation + 1 AND g."rotatedAt" >= :retryFrom
          AND (g."idleExpiresAt" = g."expiresAt" OR g."idleExpiresAt" - g."rotatedAt" = :idleExpiresAt - :now) THEN 'repeated'
        ELSE 'replayed'
      END AS "outcome",
      date_trunc('hour', g."rotatedAt", 'UTC') IS DISTINCT FROM date_trunc('hour', :now, 'UTC') AS "isRecorded"
    FROM "Grant" g JOIN "User" u ON u."tenantId" = :tenant AND u."id" = g."userId"
    WHERE g."tenantId" = :tenant AND g."id" = :grantId AND g."secretHash" = :secretHash AND ${checkFoundRow('g."clientId" = :clientId')}
      AND (:scopes IS NULL OR :scopes <@ g."scopes")
      AND (g."dpopJkt" = :dpopJkt OR (g."dpopJkt" IS NULL AND NOT :mustBeBound))
      AND g."generation" >= :generation AND g."revokedAt" IS NULL
      AND g."idleExpiresAt" > :now AND g."expiresAt" > :now AND NOT u."locked"
    FOR NO KEY UPDATE OF g
  ), presented AS MATERIALIZED (
    SELECT *, CASE
        WHEN "organization" IS NULL THEN "organizationId" IS NULL AND NOT :requiresOrganization
        ELSE "organization"->>'unmet' IS NULL
          AND (NOT :keepsOrganization OR "organization"->>'id' IS NOT DISTINCT FROM "formerOrganizationId")
      END AS "isPermitted"
    FROM found
  ), used AS (
    UPDATE "Grant" g SET "organizationId" = p."organization"->>'id', "generation" = g."generation" + :rotates::int, "rotatedAt" = :now,
      "idleExpiresAt" = LEAST(:idleExpiresAt, g."expiresAt")
        - CASE WHEN :rotates THEN interval '0' ELSE interval '1 millisecond' END
    FROM presented p WHERE g."tenantId" = :tenant AND g."id" = p."id" AND p."outcome" IN ('rotated', 'kept') AND p."isPermitted"
    RETURNING g."id", g."userId", g."sessionId", g."clientId", g."organizationId"
  ), session_organizations AS (${INSERT_ORGANIZATION}
  ), event_log AS (${INSERT_EVENT})
  SELECT * FROM presented`

/**
 * Rotates or keeps the refresh token of a grant, repeats its successor, or recognizes a replay, in one statement. The
 * first use of the grant in a clock hour (UTC) records `event`. Null when the token is ahead of the stored generation, the grant belongs to another client,
 * is too narrow, bound to another key or to none where it must be bound, expired or revoked, or the user is locked.
 */
export const refreshGrant = (
  db: Db,
  { reading, ...token }: PresentedToken,
  event: object,
): Promise<RefreshedGrant | null> => db.one(REFRESH_GRANT, { ...token, ...reading, events: [event] })
