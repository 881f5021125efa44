import { closeBus, openBus, redisFault } from './bus.ts'
import { closeDatabase, connectionSettings, databaseFault, openDatabase } from './db.ts'
import { closeLimits } from './limits.ts'
import { migrate } from './migrate.ts'
import { settleDeliveries } from './passcodes/send-passcode.ts'

/** Opens what services stand on: the database with its migrations applied, and the bus. */
export async function openRuntime(): Promise<void> {
  const settings = await connectionSettings()
  await migrate(settings)
  await openDatabase(settings)
  openBus()
}

/** Closes it again, in reverse. */
export async function closeRuntime(): Promise<void> {
  await settleDeliveries()
  closeLimits()
  closeBus()
  await closeDatabase()
}

/** What keeps the process from answering requests, by part; empty when it is ready. */
export async function runtimeFaults(): Promise<Record<string, string>> {
  const [database, redis] = await Promise.all([databaseFault(), redisFault()])
  return { ...(database && { database }), ...(redis && { redis }) }
}
