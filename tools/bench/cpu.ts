import { readFileSync } from 'node:fs'
import type pg from 'pg'

const CLOCK_TICKS_PER_SECOND = 100
const NANOSECONDS = 1e9

/** CPU seconds of a process so far. */
export function readCpuSeconds(pid: number | undefined): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS_PER_SECOND
}

/** CPU seconds so far of the connections that an application has to this database. Zero for PostgreSQL elsewhere. */
export async function readDatabaseCpuSeconds(db: pg.Client, application: string): Promise<number> {
  const { rows } = await db.query<{ pid: number }>(
    'SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = $1',
    [application],
  )
  return rows.reduce((sum, { pid }) => {
    try {
      return sum + Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / NANOSECONDS
    } catch {
      return sum // it has ended, or runs on another machine
    }
  }, 0)
}
