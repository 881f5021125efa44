import type { Prisma } from '../generated/prisma/client.ts'
import { type StoredColumn, storedColumns } from './columns.ts'
import { statement } from './statement.ts'

/**
 * `FOR NO KEY UPDATE` holds back other locks and changes of the row, `FOR UPDATE` also the insertion of rows that refer to
 * it, and `FOR SHARE` changes only.
 */
type Strength = 'FOR NO KEY UPDATE' | 'FOR UPDATE' | 'FOR SHARE'

const listColumns = (columns: readonly string[]): string => columns.map((name) => `"${name}"`).join(', ')

/**
 * Declares the lock of a row, which lasts until the transaction ends and returns the row as it is from then on: Prisma
 * Client has no operation that locks.
 */
export const declareRowLock = <T extends Prisma.ModelName, Name extends StoredColumn<T>>(
  table: T,
  columns: readonly Name[],
  strength: Strength = 'FOR NO KEY UPDATE',
) => statement({ takes: { id: 'text' }, returns: storedColumns(table, columns) })`
  SELECT ${listColumns(columns)} FROM "${table}" WHERE "tenantId" = :tenant AND "id" = :id ${strength}`

/** Declares the lock of the tenant's row, as declareRowLock does for others. */
export const declareTenantLock = <Name extends StoredColumn<'Tenant'>>(columns: readonly Name[]) =>
  statement({ returns: storedColumns('Tenant', columns) })`
  SELECT ${listColumns(columns)} FROM "Tenant" WHERE "tenantId" = :tenant FOR NO KEY UPDATE`
