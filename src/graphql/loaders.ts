import DataLoader from 'dataloader'
import type { Workload } from '../core/workload.ts'
import { dbFor } from '../database/db.ts'
import type { Client, Credential, IdpUser, Session, User } from '../generated/prisma/client.ts'

/** Reads the rows of a tenant that exist, in any order. */
type ReadByIds<Row> = (workload: Workload, ids: string[]) => Promise<Row[]>

const byIds = ({ tenant }: Workload, ids: string[]) => ({ tenantId: tenant, id: { in: ids } })

const readUsers: ReadByIds<User> = (workload, ids) =>
  dbFor(workload).user.findMany({ where: byIds(workload, ids) })
const readActiveSessions: ReadByIds<Session> = (workload, ids) =>
  dbFor(workload).session.findMany({
    where: { ...byIds(workload, ids), endedAt: null, expiresAt: { gt: new Date() } },
  })
const readClients: ReadByIds<Client> = (workload, ids) =>
  dbFor(workload).client.findMany({ where: byIds(workload, ids) })
const readCredentials: ReadByIds<Credential> = (workload, ids) =>
  dbFor(workload).credential.findMany({ where: byIds(workload, ids) })
const readIdpUsers: ReadByIds<IdpUser> = (workload, ids) =>
  dbFor(workload).idpUser.findMany({ where: byIds(workload, ids) })

/**
 * Loads rows of one tenant by id, batched within a tick; null for a missing row. The rule of the object type controls
 * access to a row. A loader is created when it is first used: most operations use none or one.
 */
export class Loaders {
  readonly #workload: Workload
  #byReader: Map<unknown, unknown> | undefined

  constructor(workload: Workload) {
    this.#workload = workload
  }

  get user(): DataLoader<string, User | null> {
    return this.over(readUsers)
  }

  /** Active sessions only. */
  get session(): DataLoader<string, Session | null> {
    return this.over(readActiveSessions)
  }

  get client(): DataLoader<string, Client | null> {
    return this.over(readClients)
  }

  get credential(): DataLoader<string, Credential | null> {
    return this.over(readCredentials)
  }

  get idpUser(): DataLoader<string, IdpUser | null> {
    return this.over(readIdpUsers)
  }

  /** Returns a loader that calls `read`; the same loader for the same function. */
  over<Row extends { id: string }>(read: ReadByIds<Row>): DataLoader<string, Row | null> {
    this.#byReader ??= new Map()
    const loader = this.#byReader.get(read) ?? createIdLoader((ids) => read(this.#workload, ids))
    this.#byReader.set(read, loader)
    return loader as DataLoader<string, Row | null>
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
