import pg from 'pg'
import { StartError } from '../core/start-error.ts'

/**
 * Throws StartError, with the statements that set them, unless connections of the role have these settings:
 * without its timeouts, a lost connection holds its locks for good. See docs/decisions/0068.
 */
export async function assertRoleSettings(
  connection: pg.ClientConfig,
  settings: Record<string, string>,
): Promise<void> {
  const client = new pg.Client(connection)
  client.on('error', () => {}) // a lost connection: the statement that waits for it rejects
  await client.connect()
  try {
    const { rows } = await client.query<{ name: string; setting: string; role: string }>(
      'SELECT lower(name) AS "name", setting, quote_ident(current_user) AS "role" FROM pg_settings WHERE lower(name) = ANY($1)',
      [Object.keys(settings)],
    )
    const wrong = rows.filter(({ name, setting }) => setting !== settings[name])
    if (wrong.length === 0) return
    const statements = wrong.map(({ name, role }) => `ALTER ROLE ${role} SET ${name} = '${settings[name]}';`)
    throw new StartError(
      `DATABASE_POOLER: a pooler passes on no settings. Run these statements, and have the pooler reconnect: ${statements.join(' ')}`,
    )
  } finally {
    await client.end()
  }
}
