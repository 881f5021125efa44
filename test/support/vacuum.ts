import { withConnection } from './databases.ts'

/**
 * Updates the planner's statistics of a table in the database of this process, and the map of visible rows,
 * without which no plan reads an index only.
 */
export const vacuumTable = (table: string): Promise<unknown> =>
  withConnection(process.env.DATABASE_URL ?? '', (admin) => admin.query(`VACUUM (ANALYZE) "${table}"`))
