import type { Workload } from '../../src/core/workload.ts'
import { type Db, Handle, type Tx } from '../../src/database/handle.ts'
import type { SqlValues } from '../../src/database/prepared-query.ts'
import type { RowStyle } from '../../src/database/rows/row-reader.ts'
import { boundStatement } from '../../src/database/statement.ts'
import { system } from '../../src/database/system.ts'
import type { TenantPrisma } from '../../src/database/tenant-prisma.ts'

/** Sends a statement that is not declared. */
export type Sql = <Row>(text: string, values: SqlValues, style?: RowStyle) => Promise<Row[]>

/** Sends statements to the database of the tenant that they name. */
const toSql =
  (select: (tenant: string) => Db): Sql =>
  <Row>(text: string, values: SqlValues, style: RowStyle = {}) =>
    select(values[0]).list(boundStatement({}, text, values, { ...style, isPrepared: true })) as Promise<Row[]>

/** Prisma for a tenant, within the limits of a workload if it has one. */
export const dbFor = (target: string | Workload): TenantPrisma =>
  new Handle(typeof target === 'string' ? { tenant: target } : target).prisma

/** Sends statements outside of transactions. */
export const sql: Sql = toSql((tenant) => new Handle({ tenant }))

/** Sends statements within the limits of a workload. */
export const sqlFor = (workload: Workload): Sql => toSql(() => new Handle(workload))

/** Runs `work` in a transaction whose statements may name any tenant. */
export const inTransaction = <Result>(work: (sql: Sql, tx: Tx) => Promise<Result>): Promise<Result> =>
  system.transaction((tx) =>
    work(
      toSql((tenant) => tx.forTenant(tenant)),
      tx,
    ),
  )
