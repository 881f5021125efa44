import { createPlatformCtx } from '../context/context.ts'
import { errorMessage } from '../core/error-message.ts'
import { log } from '../core/log.ts'
import { addSeconds } from '../core/time.ts'
import { system } from '../database/system.ts'
import { checkDomain } from '../organizations/domain-checks.ts'
import { claimDueDomains } from '../organizations/organization-domains.sql.ts'
import { startRepeatedJob } from './scheduler.ts'

const INTERVAL_MS = 600_000
/** A process has this time for the domains that it has taken. */
const LEASE_SECONDS = 3600
/** Look-ups at a time. */
const BATCH = 20

/** Checks proven domains that are due, of all tenants. An error about one does not stop the others. */
export async function checkDueDomains(now = new Date()): Promise<void> {
  for (;;) {
    const due = await claimDueDomains(system, { now, until: addSeconds(now, LEASE_SECONDS), limit: BATCH })
    await Promise.all(
      due.map(({ tenantId, ...domain }) =>
        checkDomain(createPlatformCtx(tenantId), domain, now).catch((error: unknown) =>
          log.warn(
            { tenant: tenantId, id: domain.id, err: errorMessage(error) },
            'a domain could not be checked',
          ),
        ),
      ),
    )
    if (due.length < BATCH) return
  }
}

/** Checks domains about every ten minutes until the returned function is called. */
export const startDomainChecks = (): (() => void) =>
  startRepeatedJob('the check of domains', INTERVAL_MS, () => checkDueDomains())
