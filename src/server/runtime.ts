import { findTenant } from '../access/tenant-cache.ts'
import { importMemberships, readMemberships } from '../bulk/import-memberships.ts'
import { checkRedis, closeBus, openBus } from '../coordination/bus.ts'
import { resetLimiters } from '../coordination/rate-limits.ts'
import { UnsealError } from '../core/crypto.ts'
import { env } from '../core/env.ts'
import { log } from '../core/log.ts'
import { SYSTEM_TENANT } from '../core/scopes.ts'
import { StartError } from '../core/start-error.ts'
import { importPasskeys, readPasskeys } from '../credentials/passkeys/import-passkeys.ts'
import { importTotp } from '../credentials/second-factors/import-totp.ts'
import { checkDatabase, closeDatabase, isDatabaseStuck, openDatabase } from '../database/connections.ts'
import { awaitDeliveries } from '../delivery/background.ts'
import { renderMail } from '../delivery/mail.pages.tsx'
import { setMailRenderer } from '../delivery/mail.ts'
import { setOutcomeRecorder } from '../delivery/own-servers.ts'
import { importLinks } from '../idps/idp-links.ts'
import { importGroups, readGroupNames } from '../permissions/import-groups.ts'
import { importUserAppRoles, readUserRoleNames } from '../permissions/import-roles.ts'
import { recordDeliveryOutcome } from '../tenants/delivery-outcome.ts'
import { registerLinePart } from '../users/transfer/line-parts.ts'
import { type SentSchema, sendSchema } from './schema.ts'

registerLinePart('totpKey', { write: importTotp })
registerLinePart('identities', { write: importLinks })
registerLinePart('passkeys', { write: importPasskeys, read: readPasskeys })
registerLinePart('appRoles', { write: importUserAppRoles, read: readUserRoleNames })
registerLinePart('groups', { write: importGroups, read: readGroupNames })
registerLinePart('organizations', { write: importMemberships, read: readMemberships })

/**
 * Opens the database when its migrations have been applied, and the bus. `schema` has them if they were sent before. Throws
 * when ENCRYPTION_KEY does not
 * decrypt the secrets of the database, before anything is encrypted with it. `canCreate: false` throws where
 * there is no database yet. `plainRows` is that of `openDatabase`.
 */
export async function openRuntime({
  schema,
  plainRows,
  ...options
}: {
  schema?: SentSchema
  canCreate?: boolean
  plainRows?: boolean
} = {}): Promise<void> {
  const { settings, applied } = schema ?? (await sendSchema(options))
  await applied
  await openDatabase(settings, { plainRows })
  await openBus()
  setMailRenderer(renderMail)
  setOutcomeRecorder(recordDeliveryOutcome)
  await findTenant(SYSTEM_TENANT).catch(async (error: unknown) => {
    await closeRuntime()
    if (!(error instanceof UnsealError)) throw error
    throw new StartError(
      `ENCRYPTION_KEY${env.isProduction ? '' : ' (in development kept in DATA_DIR)'} is not the one that this database was written with.`,
    )
  })
}

/** Closes what `openRuntime` opened, in reverse order. */
export async function closeRuntime(): Promise<void> {
  await awaitDeliveries()
  resetLimiters()
  closeBus()
  await closeDatabase()
}

/**
 * Whether the database and Redis fail to answer. Without Redis, changes of other processes are noticed later.
 */
export async function checkRuntime(): Promise<{ database: boolean; redis: boolean }> {
  const [database, redis] = await Promise.all([checkDatabase(), checkRedis()])
  for (const [part, err] of Object.entries({ database, redis }))
    if (err) log.warn({ part, err }, 'a dependency does not answer')
  return { database: database !== null, redis: redis !== null }
}

/** True when the process cannot recover by itself and must be restarted. */
export const isRuntimeStuck = (): boolean => isDatabaseStuck()
