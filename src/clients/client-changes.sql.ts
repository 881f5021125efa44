import type { ClientRow } from '../access/client.sql.ts'
import type { Db } from '../database/handle.ts'
import { declareRowLock } from '../database/row-locks.sql.ts'
import { Prisma } from '../generated/prisma/client.ts'
import { CLIENT_FIELDS } from './clients.fields.ts'

/** Columns that an update may write. */
export const CHANGEABLE_COLUMNS = [
  ...(Object.keys(CLIENT_FIELDS) as (keyof typeof CLIENT_FIELDS)[]),
  'hasDefaultOrigins',
] as const
export type ChangeableClient = Pick<ClientRow, (typeof CHANGEABLE_COLUMNS)[number]>

// Sign-ins are not blocked, because they lock the key of the row only.
const LOCK_CLIENT = declareRowLock('Client', Object.values(Prisma.ClientScalarFieldEnum))

/** Locks a client until the transaction ends; null when it does not exist. */
export const lockClientRow = (tx: Db, clientId: string): Promise<ClientRow | null> =>
  tx.one(LOCK_CLIENT, { id: clientId }) as Promise<ClientRow | null>

const CONTROL_COLUMNS = ['allTenants', 'scopes', 'claimMappings', 'groupsClaim'] as const
const LOCK_CLIENT_FOR_DELETE = declareRowLock('Client', CONTROL_COLUMNS, 'FOR UPDATE')
type LockedClient = Pick<ClientRow, (typeof CONTROL_COLUMNS)[number]>

/** Locks a client for its deletion: inserts of rows that refer to it wait too. */
export const lockClientForDelete = (tx: Db, clientId: string): Promise<LockedClient | null> =>
  tx.one(LOCK_CLIENT_FOR_DELETE, { id: clientId }) as Promise<LockedClient | null>
