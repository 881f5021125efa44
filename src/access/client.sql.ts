import { storedColumns } from '../database/columns.ts'
import type { Db } from '../database/handle.ts'
import { type RowOf, statement, typed } from '../database/statement.ts'
import type { SigningAlgorithm } from '../keys/signing-algorithms.ts'
import type { ClaimMapping } from '../model/claim-mappings.ts'
import type { OrganizationMode } from '../model/organization-mode.ts'

/** A client without its secrets. */
export type ClientRow = Omit<RowOf<typeof CLIENT_TYPES>, 'secrets'>
/** A secret: the SHA-256 in hex, and the expiry as PostgreSQL formats it in JSON. */
export type SecretRow = { hash: string; expiresAt: string | null }

/** The types of CLIENT_WITH_SECRETS. */
export const CLIENT_TYPES = {
  takes: { clientId: 'text' },
  returns: {
    ...storedColumns('Client'),
    idTokenSigningAlg: typed<SigningAlgorithm | null>('text?'),
    userInfoSigningAlg: typed<SigningAlgorithm | null>('text?'),
    organization: typed<OrganizationMode>('text'),
    claimMappings: typed<ClaimMapping[]>('jsonb'),
    secrets: typed<SecretRow[]>('jsonb'),
  },
} as const
/** The client and all its secrets in one row, so that authenticating a client reads once. */
export const CLIENT_WITH_SECRETS = `
  SELECT c.*, (
    SELECT COALESCE(jsonb_agg(jsonb_build_object('hash', encode(s."secretHash", 'hex'), 'expiresAt', s."expiresAt")), '[]')
    FROM "ClientSecret" s WHERE s."tenantId" = c."tenantId" AND s."clientId" = c."id"
  ) AS "secrets"
  FROM "Client" c WHERE c."tenantId" = :tenant AND c."id" = :clientId`

const SELECT_CLIENT = statement({ ...CLIENT_TYPES, shared: true })`${CLIENT_WITH_SECRETS}`

export async function selectClient(
  db: Db,
  clientId: string,
): Promise<{ client: ClientRow; secrets: SecretRow[] } | null> {
  const row = await db.one(SELECT_CLIENT, { clientId })
  if (!row) return null
  const { secrets, ...client } = row
  return { client, secrets }
}

const SELECT_ORIGIN_LISTED = statement({ takes: { origin: 'text' }, returns: { isListed: 'boolean' } })`
  SELECT EXISTS (
    SELECT FROM "Client" WHERE "tenantId" = :tenant AND :origin = ANY ("allowedOrigins")
  ) AS "isListed"`

/** True when any client of the tenant lists the origin. */
export async function selectOriginListed(db: Db, origin: string): Promise<boolean> {
  return (await db.one(SELECT_ORIGIN_LISTED, { origin }))?.isListed ?? false
}

/** An API as tokens for it need it. */
export type DeclaredApi = {
  id: string
  identifier: string
  tokenExpiryTime: number | null
  permissionsInTokens: boolean
  groupsInTokens: boolean
  claimMappings: ClaimMapping[]
}

const SELECT_DECLARED = statement({
  returns: { resources: 'text[]', apis: typed<DeclaredApi[]>('jsonb') },
})`
  WITH apis AS (
    SELECT "id", "identifier", "tokenExpiryTime", "permissionsInTokens", "groupsInTokens", "claimMappings" FROM "Api" WHERE "tenantId" = :tenant
  ), resources AS (
    SELECT "identifier" AS "resource" FROM apis
    UNION SELECT unnest("resources") FROM "Client" WHERE "tenantId" = :tenant AND cardinality("resources") > 0
  )
  SELECT (SELECT coalesce(array_agg("resource"), '{}') FROM resources) AS "resources",
    (SELECT coalesce(jsonb_agg(a), '[]') FROM apis a) AS "apis"`

/** Returns the identifiers of the APIs and the `resources` of all clients of the tenant, each once, and the APIs. */
export const selectDeclared = async (db: Db): Promise<{ resources: string[]; apis: DeclaredApi[] }> =>
  (await db.one(SELECT_DECLARED)) ?? { resources: [], apis: [] }

const SELECT_SERVERS = statement({
  takes: { resources: 'text[]' },
  returns: { resource: 'text', name: 'text', translations: typed<object[]>('jsonb') },
})`
  SELECT DISTINCT ON (s."resource") s."resource", s."name", s."translations" FROM (
    SELECT a."identifier" AS "resource", a."name", a."translations", 1 AS "rank", a."createdAt", a."id" FROM "Api" a
    WHERE a."tenantId" = :tenant AND a."identifier" = ANY (:resources)
    UNION ALL
    SELECT r."resource", c."name", c."translations", 2, c."createdAt", c."id" FROM unnest(:resources) r("resource")
    JOIN "Client" c ON c."tenantId" = :tenant AND cardinality(c."resources") > 0 AND r."resource" = ANY (c."resources")
  ) s
  ORDER BY s."resource", s."rank", s."createdAt", s."id"`

/** The API of each of these resources, or else the client that serves it: the first that declared it. */
export const selectResourceServers = (db: Db, resources: readonly string[]) =>
  db.many(SELECT_SERVERS, { resources })

export type ClientDocument = RowOf<typeof SELECT_CLIENT_DOCUMENTS>

const SELECT_CLIENT_DOCUMENTS = statement({
  shared: true,
  takes: { clientId: 'text' },
  returns: { documentId: 'text', digest: 'text', text: 'text' },
})`
  SELECT "documentId", "digest", "text" FROM "TrustedDocument"
  WHERE "tenantId" = :tenant AND "clientId" = :clientId`

/** The documents that are registered for a client, whose number and bytes are limited. */
export const selectClientDocuments = (db: Db, clientId: string): Promise<ClientDocument[]> =>
  db.many(SELECT_CLIENT_DOCUMENTS, { clientId })
