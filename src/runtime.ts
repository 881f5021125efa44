import { closeBus, openBus, redisFault } from './bus.ts'
import { SealBroken } from './crypto.ts'
import { SYSTEM_TENANT } from './ctx.ts'
import { closeDatabase, connectionSettings, databaseFault, openDatabase } from './db.ts'
import { renderMail } from './delivery/mail.pages.tsx'
import { renderMailBy } from './delivery/mail.ts'
import { env } from './env.ts'
import { closeLimits } from './limits.ts'
import { log } from './log.ts'
import { migrate } from './migrate.ts'
import { settleDeliveries } from './passcodes/send-passcode.ts'
import { findTenant } from './tenants/tenant-cache.ts'

/**
 * Opens what services stand on: the database with its migrations applied, and the bus. Throws for a key that does not
 * open what the database holds, before anything is sealed with it.
 */
export async function openRuntime(): Promise<void> {
  const settings = await connectionSettings()
  await migrate(settings)
  await openDatabase(settings)
  await openBus()
  renderMailBy(renderMail)
  await findTenant(SYSTEM_TENANT).catch(async (error: unknown) => {
    await closeRuntime()
    if (!(error instanceof SealBroken)) throw error
    throw new Error(
      `ENCRYPTION_KEY${env.isProduction ? '' : ' (in development kept in DATA_DIR)'} is not the one that this database was written with`,
      { cause: error },
    )
  })
}

/** Closes it again, in reverse. */
export async function closeRuntime(): Promise<void> {
  await settleDeliveries()
  closeLimits()
  closeBus()
  await closeDatabase()
}

/** Which parts do not answer now. Without Redis everything works on, slower to notice what other processes did. */
export async function runtimeFaults(): Promise<{ database: boolean; redis: boolean }> {
  const [database, redis] = await Promise.all([databaseFault(), redisFault()])
  for (const [part, err] of Object.entries({ database, redis }))
    if (err) log.warn({ part, err }, 'a part does not answer')
  return { database: database !== null, redis: redis !== null }
}
