import DataLoader from 'dataloader'
import { dbFor } from '../database/db.ts'
import type { Client, Credential, IdpUser, Session, User } from '../generated/prisma/client.ts'

/**
 * Loads rows by id, batched within a tick; null for a missing row. The rule of the object type controls
 * access to a row.
 */
export type Loaders = {
  user: DataLoader<string, User | null>
  /** Active sessions only. */
  session: DataLoader<string, Session | null>
  client: DataLoader<string, Client | null>
  credential: DataLoader<string, Credential | null>
  idpUser: DataLoader<string, IdpUser | null>
  /** Returns a loader that calls `read`; the same loader for the same function. */
  over: <Row extends { id: string }>(read: ReadByIds<Row>) => DataLoader<string, Row | null>
}

/** Reads the rows of a tenant that exist, in any order. */
type ReadByIds<Row> = (tenant: string, ids: string[]) => Promise<Row[]>

/** Creates the loaders of one tenant, with empty caches. */
export function createLoaders(tenant: string): Loaders {
  const tenantId = tenant
  const getDb = () => dbFor(tenant)
  const loadersByReader = new Map<unknown, unknown>()
  return {
    user: createIdLoader((ids) => getDb().user.findMany({ where: { tenantId, id: { in: ids } } })),
    session: createIdLoader((ids) =>
      getDb().session.findMany({
        where: { tenantId, id: { in: ids }, endedAt: null, expiresAt: { gt: new Date() } },
      }),
    ),
    client: createIdLoader((ids) => getDb().client.findMany({ where: { tenantId, id: { in: ids } } })),
    credential: createIdLoader((ids) =>
      getDb().credential.findMany({ where: { tenantId, id: { in: ids } } }),
    ),
    idpUser: createIdLoader((ids) => getDb().idpUser.findMany({ where: { tenantId, id: { in: ids } } })),
    over: <Row extends { id: string }>(read: ReadByIds<Row>) => {
      const loader = loadersByReader.get(read) ?? createIdLoader((ids) => read(tenant, ids))
      loadersByReader.set(read, loader)
      return loader as DataLoader<string, Row | null>
    },
  }
}

function createIdLoader<Row extends { id: string }>(
  read: (ids: string[]) => Promise<Row[]>,
): DataLoader<string, Row | null> {
  return new DataLoader(async (ids: readonly string[]) => {
    const rows = new Map((await read([...ids])).map((row) => [row.id, row]))
    return ids.map((id) => rows.get(id) ?? null)
  })
}
