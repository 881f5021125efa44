import { Counts } from '../core/counts.ts'
import { RateLimited } from '../core/errors.ts'

/** How many may be open at once: of one caller, for one tenant, and in this process. */
export type HoldLimits = { caller: number; tenant: number; process: number }
/** A caller is a user, a client, or a network before there is either. */
export type Holder = { caller: string; tenant: string }

/**
 * Limits what stays open, such as sockets and subscriptions. Each process counts its own: they take its memory
 * and its time. `what` names them in the error, in the plural.
 */
export function createHoldLimit(what: string, limits: HoldLimits, retrySeconds = 10) {
  const byCaller = new Counts()
  const byTenant = new Counts()
  let total = 0

  function assertFree({ caller, tenant }: Holder): void {
    const reject = (limit: number, whose: string) => {
      throw new RateLimited(retrySeconds, `Too many ${what}: ${limit} may be open at once ${whose}.`)
    }
    if (byCaller.get(caller) >= limits.caller) reject(limits.caller, 'for one caller')
    if (byTenant.get(tenant) >= limits.tenant) reject(limits.tenant, 'for one tenant')
    if (total >= limits.process) reject(limits.process, 'on this server')
  }

  return {
    /** Counts one until the returned function is called. Throws RateLimited beyond a limit. */
    hold: (holder: Holder): (() => void) => {
      assertFree(holder)
      const caller = byCaller.add(holder.caller)
      const tenant = byTenant.add(holder.tenant)
      total += 1
      let isHeld = true
      return () => {
        if (!isHeld) return
        isHeld = false
        byCaller.subtract(caller)
        byTenant.subtract(tenant)
        total -= 1
      }
    },
  }
}
