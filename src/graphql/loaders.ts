import DataLoader from 'dataloader'
import type { Db } from '../database/handle.ts'
import type {
  Client,
  Credential,
  IdpUser,
  Membership,
  Organization,
  Session,
  User,
} from '../generated/prisma/client.ts'

/** Reads the rows of a tenant that exist, in any order. */
type ReadByIds<Row> = (db: Db, ids: string[]) => Promise<Row[]>

const byIds = ({ tenant }: Db, ids: string[]) => ({ tenantId: tenant, id: { in: ids } })

const readUsers: ReadByIds<User> = (db, ids) => db.prisma.user.findMany({ where: byIds(db, ids) })
const readActiveSessions: ReadByIds<Session> = (db, ids) =>
  db.prisma.session.findMany({
    where: { ...byIds(db, ids), endedAt: null, expiresAt: { gt: new Date() } },
  })
const readClients: ReadByIds<Client> = (db, ids) => db.prisma.client.findMany({ where: byIds(db, ids) })
const readCredentials: ReadByIds<Credential> = (db, ids) =>
  db.prisma.credential.findMany({ where: byIds(db, ids) })
const readIdpUsers: ReadByIds<IdpUser> = (db, ids) => db.prisma.idpUser.findMany({ where: byIds(db, ids) })
const readOrganizations: ReadByIds<Organization> = (db, ids) =>
  db.prisma.organization.findMany({ where: byIds(db, ids) })
const readMemberships: ReadByIds<Membership> = (db, ids) =>
  db.prisma.membership.findMany({ where: byIds(db, ids) })

/**
 * Loads rows of one tenant by id, batched within a tick; null for a missing row. The rule of the object type controls
 * access to a row. A loader is created when it is first used: most operations use none or one.
 */
export class Loaders {
  readonly #db: Db
  #byReader: Map<unknown, unknown> | undefined

  constructor(db: Db) {
    this.#db = db
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

  get organization(): DataLoader<string, Organization | null> {
    return this.over(readOrganizations)
  }

  get membership(): DataLoader<string, Membership | null> {
    return this.over(readMemberships)
  }

  /** Returns a loader that calls `read`; the same loader for the same function. */
  over<Row extends { id: string }>(read: ReadByIds<Row>): DataLoader<string, Row | null> {
    this.#byReader ??= new Map()
    const loader = this.#byReader.get(read) ?? createIdLoader((ids) => read(this.#db, ids))
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
