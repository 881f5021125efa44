import { storedColumns } from '../database/columns.ts'
import type { Db } from '../database/handle.ts'
import { type RowOf, statement, typed } from '../database/statement.ts'
import type { SigningAlgorithm } from '../keys/signing-algorithms.ts'
import type { ClaimMapping } from '../model/claim-mappings.ts'

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

const SELECT_DECLARED = statement({ returns: { resource: 'text' } })`
  SELECT DISTINCT unnest("resources") AS "resource" FROM "Client"
  WHERE "tenantId" = :tenant AND cardinality("resources") > 0`

/** Returns the `resources` of all clients of the tenant, each once. */
export async function selectDeclaredResources(db: Db): Promise<string[]> {
  return (await db.many(SELECT_DECLARED)).map(({ resource }) => resource)
}

const SELECT_SERVERS = statement({
  takes: { resources: 'text[]' },
  returns: { resource: 'text', name: 'text', translations: typed<object[]>('jsonb') },
})`
  SELECT DISTINCT ON (r."resource") r."resource", c."name", c."translations"
  FROM unnest(:resources) r("resource")
  JOIN "Client" c ON c."tenantId" = :tenant AND cardinality(c."resources") > 0 AND r."resource" = ANY (c."resources")
  ORDER BY r."resource", c."createdAt", c."id"`

/** The client that serves each of these resources: the first that declared it. */
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
