import { openEmbedded } from '../../src/database/embedded/open.ts'
import type { EmbeddedConnection } from '../../src/database/embedded/server.ts'

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
