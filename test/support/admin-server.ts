import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEmbedded } from '../../src/database/embedded/open.ts'
import type { EmbeddedConnection } from '../../src/database/embedded/server.ts'
import { withConnection } from './databases.ts'

/** Starts PostgreSQL with its data in `directory`, for the databases of one test run. */
export async function startEmbeddedServer(
  directory: string,
): Promise<{ connection: EmbeddedConnection; url: string; close: () => Promise<void> }> {
  const settings = ['fsync=off', 'full_page_writes=off', 'max_connections=300']
  const { connection, close } = await openEmbedded(directory, { settings })
  const { host, port, user, database } = connection
  const parameters = new URLSearchParams({ host, port: `${port}`, user })
  return { connection, url: `postgresql:///${database}?${parameters}`, close }
}

const ADMIN_URL = process.env.TEST_DATABASE_URL ?? 'postgresql://postgres@127.0.0.1:5432/postgres'

/** A PostgreSQL on which databases can be created. */
export type AdminServer = {
  url: string
  /** Why it is an embedded server; null for the one of TEST_DATABASE_URL. */
  missing: string | null
  close: () => Promise<void>
}

/** Returns the server of TEST_DATABASE_URL if it answers, else starts an embedded one with data of its own. */
export async function openAdminServer(): Promise<AdminServer> {
  const missing = await probePostgres()
  if (missing === null) return { url: ADMIN_URL, missing, close: async () => {} }
  const directory = await mkdtemp(join(tmpdir(), 'vestibule-server-'))
  const { url, close } = await startEmbeddedServer(directory)
  return {
    url,
    missing,
    close: async () => {
      await close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** Null when the server answers, else the cause. */
const probePostgres = (): Promise<string | null> =>
  withConnection(ADMIN_URL, (admin) => admin.query('SELECT 1')).then(
    () => null,
    (error) => describeError(error),
  )

export const describeError = (error: unknown): string =>
  (error as NodeJS.ErrnoException).code ?? (error instanceof Error ? error.message : String(error))
