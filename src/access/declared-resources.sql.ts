import type { Db } from '../database/handle.ts'
import { statement, typed } from '../database/statement.ts'

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
