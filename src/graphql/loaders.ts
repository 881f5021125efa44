import DataLoader from 'dataloader'
import { dbFor } from '../db.ts'
import type { Client, Credential, IdpUser, Session, User } from '../generated/prisma/client.ts'
import { findIdentityProviders, type Idp } from '../idps/idps.ts'

/** Rows by id, batched within a tick. A missing row is null. Who may see a row is the object type's rule. */
export type Loaders = {
  user: DataLoader<string, User | null>
  /** Active sessions only, as everywhere. */
  session: DataLoader<string, Session | null>
  client: DataLoader<string, Client | null>
  credential: DataLoader<string, Credential | null>
  idp: DataLoader<string, Idp | null>
  idpUser: DataLoader<string, IdpUser | null>
}

export function createLoaders(tenant: string): Loaders {
  const tenantId = tenant
  const db = () => dbFor(tenant)
  return {
    user: byId((ids) => db().user.findMany({ where: { tenantId, id: { in: ids } } })),
    session: byId((ids) =>
      db().session.findMany({
        where: { tenantId, id: { in: ids }, endedAt: null, expiresAt: { gt: new Date() } },
      }),
    ),
    client: byId((ids) => db().client.findMany({ where: { tenantId, id: { in: ids } } })),
    credential: byId((ids) => db().credential.findMany({ where: { tenantId, id: { in: ids } } })),
    idp: byId((ids) => findIdentityProviders(tenant, ids)),
    idpUser: byId((ids) => db().idpUser.findMany({ where: { tenantId, id: { in: ids } } })),
  }
}

function byId<Row extends { id: string }>(
  read: (ids: string[]) => Promise<Row[]>,
): DataLoader<string, Row | null> {
  return new DataLoader(async (ids: readonly string[]) => {
    const rows = new Map((await read([...ids])).map((row) => [row.id, row]))
    return ids.map((id) => rows.get(id) ?? null)
  })
}
