import { env } from '../core/env.ts'
import { type SentMigrations, sendMigrations } from '../database/migrate.ts'
import { type ConnectionSettings, resolveConnectionSettings } from '../database/settings.ts'

/** The database with its pending migrations, which it may still be applying. */
export type SentSchema = SentMigrations & { settings: ConnectionSettings }

/**
 * Sends the pending migrations to the database of DATABASE_URL, or to the embedded one. `canCreate: false` throws where
 * there is no database yet.
 */
export async function sendSchema(
  options: { canCreate?: boolean; isServer?: boolean } = {},
): Promise<SentSchema> {
  const settings = await resolveConnectionSettings(options)
  const { applied } = await sendMigrations(settings, { isPooled: env.databasePooler })
  return { settings, applied }
}
