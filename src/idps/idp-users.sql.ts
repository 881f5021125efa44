import { storedColumns } from '../database/columns.ts'
import type { Db } from '../database/handle.ts'
import { prefixNames, statement } from '../database/statement.ts'
import { buildInsertEventsSql } from '../events/log.sql.ts'
import type { IdentityProvider, IdpUser } from '../generated/prisma/client.ts'

const SELECT_USER_AND_IDP = statement({
  takes: { userId: 'text', idpId: 'text' },
  returns: { ...storedColumns('IdentityProvider'), userRoles: 'text[]?' },
})`
  SELECT i.*, u."roles" AS "userRoles" FROM (SELECT :tenant::text AS "tenantId") t
  LEFT JOIN "User" u ON u."tenantId" = t."tenantId" AND u."id" = :userId
  LEFT JOIN "IdentityProvider" i ON i."tenantId" = t."tenantId" AND i."id" = :idpId
  WHERE t."tenantId" = :tenant`

/** The roles of a user and a provider; each null when it does not exist. One statement. */
export async function selectUserAndIdp(
  db: Db,
  userId: string,
  idpId: string,
): Promise<{ roles: string[] | null; idp: IdentityProvider | null }> {
  const row = await db.one(SELECT_USER_AND_IDP, { userId, idpId })
  if (!row) return { roles: null, idp: null }
  const { userRoles, ...idp } = row
  return { roles: userRoles, idp: idp.id === null ? null : idp }
}

/** The link that a user has at a provider, as far as it is compared. */
export type LockedLink = Pick<IdpUser, 'id' | 'issuer' | 'externalId' | 'metadata'>

// A statement after the one that locked the user: it sees the current link.
const LOCK_IDP = statement({
  takes: { idpId: 'text', userId: 'text' },
  returns: {
    ...storedColumns('IdentityProvider'),
    ...prefixNames('link_', storedColumns('IdpUser', ['issuer', 'externalId', 'metadata'])),
    link_id: 'text?',
  },
})`
  SELECT i.*, l."id" AS "link_id", l."issuer" AS "link_issuer", l."externalId" AS "link_externalId", l."metadata" AS "link_metadata"
  FROM "IdentityProvider" i
  LEFT JOIN "IdpUser" l ON l."tenantId" = i."tenantId" AND l."idpId" = i."id" AND l."userId" = :userId
  WHERE i."tenantId" = :tenant AND i."id" = :idpId FOR SHARE OF i`

/**
 * Locks a provider until the transaction ends, and reads the link that a locked user has there. Null without
 * a provider.
 */
export async function lockIdpAndReadLink(
  db: Db,
  idpId: string,
  userId: string,
): Promise<{ idp: IdentityProvider; link: LockedLink | null } | null> {
  const row = await db.one(LOCK_IDP, { idpId, userId })
  if (!row) return null
  const {
    link_id: id,
    link_issuer: issuer,
    link_externalId: externalId,
    link_metadata: metadata,
    ...idp
  } = row
  return { idp, link: id === null ? null : { id, issuer, externalId, metadata } }
}

/** The columns that a link is written with. */
export type LinkColumns = Pick<IdpUser, 'issuer' | 'externalId' | 'byManagement' | 'lastLoginAt'> & {
  metadata: Record<string, unknown>
}

const INSERT_LINK = statement({
  takes: {
    id: 'text',
    userId: 'text',
    idpId: 'text',
    issuer: 'text',
    externalId: 'text',
    metadata: 'jsonb',
    byManagement: 'boolean',
    lastLoginAt: 'timestamptz?',
    events: 'jsonb',
  },
  returns: storedColumns('IdpUser'),
})`
  WITH made AS (
    INSERT INTO "IdpUser" ("tenantId", "id", "userId", "idpId", "issuer", "externalId", "metadata", "byManagement", "lastLoginAt")
    VALUES (:tenant, :id, :userId, :idpId, :issuer, :externalId, :metadata, :byManagement, :lastLoginAt) RETURNING *
  ), event_log AS (${buildInsertEventsSql(':events', { from: 'made' })})
  SELECT * FROM made WHERE "tenantId" = :tenant`

/**
 * Inserts a link with its event: one statement. An identity that is linked to another user violates the
 * unique index.
 */
export async function insertIdpLink(
  db: Db,
  link: LinkColumns & Pick<IdpUser, 'id' | 'userId' | 'idpId'>,
  event: object,
): Promise<IdpUser> {
  const row = await db.one(INSERT_LINK, { ...link, events: [event] })
  if (!row) throw new Error('the link was not written')
  return row
}

// Only a changed issuer or metadata moves updatedAt.
const UPDATE_LINK = statement({
  takes: {
    id: 'text',
    issuer: 'text',
    metadata: 'jsonb',
    lastLoginAt: 'timestamptz?',
    isChanged: 'boolean',
    events: 'jsonb',
  },
  returns: storedColumns('IdpUser'),
})`
  WITH event_log AS (${buildInsertEventsSql(':events')})
  UPDATE "IdpUser" t SET "issuer" = :issuer, "metadata" = :metadata, "lastLoginAt" = :lastLoginAt,
    "updatedAt" = CASE WHEN :isChanged THEN GREATEST(now(), t."updatedAt" + interval '1 millisecond') ELSE t."updatedAt" END
  WHERE t."tenantId" = :tenant AND t."id" = :id RETURNING t.*`

/** Updates a locked link with what the provider returned, with the events, if any: one statement. */
export async function updateIdpLink(
  db: Db,
  id: string,
  columns: Pick<LinkColumns, 'issuer' | 'metadata' | 'lastLoginAt'>,
  events: object[],
): Promise<IdpUser> {
  const row = await db.one(UPDATE_LINK, { id, ...columns, isChanged: events.length > 0, events })
  if (!row) throw new Error('the link was not written')
  return row
}

const DELETE_LINK = statement({
  takes: { userId: 'text', idpId: 'text', events: 'jsonb' },
  returns: { id: 'text' },
})`
  WITH deleted AS (
    DELETE FROM "IdpUser" WHERE "tenantId" = :tenant AND "userId" = :userId AND "idpId" = :idpId RETURNING "id"
  ), event_log AS (${buildInsertEventsSql(':events', {
    from: 'deleted',
    columns: { subjectIds: `ARRAY[deleted."id", :idpId]` },
  })})
  SELECT "id" FROM deleted`

/**
 * Deletes a locked user's link, with the event; returns its id, or null when there is none. One statement.
 */
export async function deleteIdpLink(
  db: Db,
  { userId, idpId }: Pick<IdpUser, 'userId' | 'idpId'>,
  event: object,
): Promise<string | null> {
  return (await db.one(DELETE_LINK, { userId, idpId, events: [event] }))?.id ?? null
}
