import type { Sql } from '../db.ts'
import { insertEventsSql } from '../events.sql.ts'
import type { IdentityProvider, IdpUser } from '../generated/prisma/client.ts'

const SELECT_USER_AND_IDP = `
  SELECT i.*, u."roles" AS "userRoles" FROM (SELECT $1::text AS "tenantId") t
  LEFT JOIN "User" u ON u."tenantId" = t."tenantId" AND u."id" = $2
  LEFT JOIN "IdentityProvider" i ON i."tenantId" = t."tenantId" AND i."id" = $3`

/** A user's roles and a provider; each null when it is not there. One statement. */
export async function selectUserAndIdp(
  sql: Sql,
  tenant: string,
  userId: string,
  idpId: string,
): Promise<{ roles: string[] | null; idp: IdentityProvider | null }> {
  const [row] = await sql<IdentityProvider & { userRoles: string[] | null }>(SELECT_USER_AND_IDP, [
    tenant,
    userId,
    idpId,
  ])
  if (!row) return { roles: null, idp: null }
  const { userRoles, ...idp } = row
  return { roles: userRoles, idp: idp.id === null ? null : idp }
}

// A statement after the one that held the user: it sees the link as it is now.
const HOLD_IDP = `
  SELECT i.*, l."id" AS "linkId", l."issuer" AS "linkIssuer", l."externalId" AS "linkExternalId", l."metadata" AS "linkMetadata"
  FROM "IdentityProvider" i
  LEFT JOIN "IdpUser" l ON l."tenantId" = i."tenantId" AND l."idpId" = i."id" AND l."userId" = $3
  WHERE i."tenantId" = $1 AND i."id" = $2 FOR SHARE OF i`

/** The link that a user has at a provider, as far as it is compared. */
export type HeldLink = Pick<IdpUser, 'id' | 'issuer' | 'externalId' | 'metadata'>
type LinkOfIdp = {
  linkId: string | null
  linkIssuer: string
  linkExternalId: string
  linkMetadata: JsonValue
}
type JsonValue = IdpUser['metadata']

/** Keeps a provider as it is until the transaction ends, and reads the link that a held user has there. Null without a provider. */
export async function holdIdpAndLink(
  sql: Sql,
  tenant: string,
  idpId: string,
  userId: string,
): Promise<{ idp: IdentityProvider; link: HeldLink | null } | null> {
  const [row] = await sql<IdentityProvider & LinkOfIdp>(HOLD_IDP, [tenant, idpId, userId])
  if (!row) return null
  const { linkId: id, linkIssuer: issuer, linkExternalId: externalId, linkMetadata: metadata, ...idp } = row
  return { idp, link: id === null ? null : { id, issuer, externalId, metadata } }
}

/** What a link is written with. */
export type LinkColumns = Pick<IdpUser, 'issuer' | 'externalId' | 'byManagement' | 'lastLoginAt'> & {
  metadata: Record<string, unknown>
}

const INSERT_LINK = `
  WITH made AS (
    INSERT INTO "IdpUser" ("tenantId", "id", "userId", "idpId", "issuer", "externalId", "metadata", "byManagement", "lastLoginAt")
    VALUES ($1, $2, $3, $4, $5, $6, $7::jsonb, $8::boolean, $9::timestamptz) RETURNING *
  ), told AS (${insertEventsSql('$10', { from: 'made' })})
  SELECT * FROM made`

/** Writes a link with its event: one statement. The unique index refuses an identity that another user is linked to. */
export async function insertLink(
  sql: Sql,
  tenant: string,
  { id, userId, idpId, ...columns }: LinkColumns & Pick<IdpUser, 'id' | 'userId' | 'idpId'>,
  event: object,
): Promise<IdpUser> {
  const { issuer, externalId, metadata, byManagement, lastLoginAt } = columns
  const values = [issuer, externalId, JSON.stringify(metadata), byManagement, lastLoginAt]
  const [row] = await sql<IdpUser>(INSERT_LINK, [
    tenant,
    id,
    userId,
    idpId,
    ...values,
    JSON.stringify([event]),
  ])
  if (!row) throw new Error('the link was not written')
  return row
}

// Only a difference in what the link says moves updatedAt.
const REFRESH_LINK = `
  WITH told AS (${insertEventsSql('$7')})
  UPDATE "IdpUser" t SET "issuer" = $3, "metadata" = $4::jsonb, "lastLoginAt" = $5::timestamptz,
    "updatedAt" = CASE WHEN $6::boolean THEN GREATEST(now(), t."updatedAt" + interval '1 millisecond') ELSE t."updatedAt" END
  WHERE t."tenantId" = $1 AND t."id" = $2 RETURNING t.*`

/** Writes what a provider said anew of a held link, with the events, if any: one statement. */
export async function refreshLink(
  sql: Sql,
  tenant: string,
  id: string,
  { issuer, metadata, lastLoginAt }: Pick<LinkColumns, 'issuer' | 'metadata' | 'lastLoginAt'>,
  events: object[],
): Promise<IdpUser> {
  const values = [issuer, JSON.stringify(metadata), lastLoginAt, events.length > 0, JSON.stringify(events)]
  const [row] = await sql<IdpUser>(REFRESH_LINK, [tenant, id, ...values])
  if (!row) throw new Error('the link was not written')
  return row
}

const DELETE_LINK = `
  WITH gone AS (
    DELETE FROM "IdpUser" WHERE "tenantId" = $1 AND "userId" = $2 AND "idpId" = $3 RETURNING "id"
  ), told AS (${insertEventsSql('$4', { from: 'gone', columns: { subjectIds: `ARRAY[gone."id", $3::text]` } })})
  SELECT "id" FROM gone`

/** Removes a held user's link, with the event; answers its id, or null when there is none. One statement. */
export async function deleteLink(
  sql: Sql,
  tenant: string,
  { userId, idpId }: Pick<IdpUser, 'userId' | 'idpId'>,
  event: object,
): Promise<string | null> {
  const [row] = await sql<{ id: string }>(DELETE_LINK, [tenant, userId, idpId, JSON.stringify([event])])
  return row?.id ?? null
}
