import { Prisma } from '../generated/prisma/client.ts'
import type { Typed } from './statement.ts'

type Table = Prisma.ModelName
type Stored<T extends Table> = Prisma.TypeMap['model'][T]['payload']['scalars']
/** The name of a column of a table. */
export type StoredColumn<T extends Table> = keyof Stored<T> & string
type Columns<Row> = { [Name in keyof Row]: Typed<Row[Name]> }

const listColumnNames = (table: Table): string[] => Object.keys(Prisma[`${table}ScalarFieldEnum`])

/**
 * The columns of a table, or those of them that are named, for what a statement returns. Their types are the
 * table's.
 */
export function storedColumns<T extends Table, Name extends StoredColumn<T> = StoredColumn<T>>(
  table: T,
  names?: readonly Name[],
): Columns<Pick<Stored<T>, Name>> {
  const columns = (names ?? listColumnNames(table)).map((name) => [name, `"${table}"."${name}"`])
  return Object.fromEntries(columns)
}
