import { closeBus, openBus, redisFault } from './bus.ts'
import { closeDatabase, connectionSettings, databaseFault, openDatabase } from './db.ts'
import { closeLimits } from './limits.ts'
import { log } from './log.ts'
import { migrate } from './migrate.ts'
import { settleDeliveries } from './passcodes/send-passcode.ts'

/** Opens what services stand on: the database with its migrations applied, and the bus. */
export async function openRuntime(): Promise<void> {
  const settings = await connectionSettings()
  await migrate(settings)
  await openDatabase(settings)
  await openBus()
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
