import { type Count, Counts } from '../core/counts.ts'
import { RateLimited } from '../core/errors.ts'
import { toNetwork, toSite } from '../core/network/ip.ts'

/**
 * How many may be open at once: of one caller, of one site, for one tenant, and in this process. A site is an IPv6 /48,
 * which may be one customer's, or an IPv4 address.
 */
export type HoldLimits = { caller: number; site: number; tenant: number; process: number }
/** A caller is a user, a client, or a network before there is either. */
export type Holder = { caller: string; tenant: string; ip: string | null }

/** What one holder has open. */
export type Hold = {
  /** Throws RateLimited when a limit does not permit another amount, and counts nothing. */
  requireRoom: (amount: number) => void
  /** Counts another amount. Throws RateLimited when a limit is reached, unless it is forced. */
  add: (amount: number, isForced?: boolean) => void
  /** Ends the count of all amounts; later ones are not counted. */
  end: () => void
}

const WHOSE = {
  caller: 'for one caller',
  site: 'for one network',
  tenant: 'for one tenant',
  process: 'on this server',
} as const satisfies Record<keyof HoldLimits, string>
type Part = keyof HoldLimits
const PARTS = Object.keys(WHOSE) as Part[]

/**
 * Limits what stays open, such as sockets and subscriptions. Each process counts its own: they take its memory
 * and its time. `what` names them in the error, in the plural.
 *
 * With `shrinks`, callers and sites have their limits while half of the places of the tenant and of the process are free.
 * Beyond, they have twice the free part of them, and one place at least, as with budgets of storage: those that hold most
 * are rejected first, and one that holds none is accepted while many others take all that they can.
 *
 * With `leavesHalf`, for amounts that differ, a caller may hold half of what the others leave free in its tenant: whatever
 * callers take, one that holds none is accepted with a smaller amount.
 */
export function createHoldLimit(
  what: string,
  limits: HoldLimits,
  {
    retrySeconds = 10,
    shrinks = false,
    leavesHalf = false,
  }: { retrySeconds?: number; shrinks?: boolean; leavesHalf?: boolean } = {},
) {
  const counts: Record<Part, Counts> = {
    caller: new Counts(),
    site: new Counts(),
    tenant: new Counts(),
    process: new Counts(),
  }
  const toKeys = ({ caller, tenant, ip }: Holder): Record<Part, string> => ({
    caller,
    site: toSite(ip) ?? toNetwork(ip),
    tenant,
    process: '',
  })

  const computeFree = (part: Part, keys: Record<Part, string>): number =>
    1 - counts[part].get(keys[part]) / limits[part]

  /** Half of what others leave free in the tenant. A network without a token is one caller in all tenants. */
  function computeHalf({ tenant, caller }: Record<Part, string>): number {
    const others = Math.max(0, counts.tenant.get(tenant) - counts.caller.get(caller))
    return Math.floor((limits.tenant - others) / 2)
  }

  function computeLimit(part: Part, keys: Record<Part, string>): number {
    if (leavesHalf && part === 'caller') return computeHalf(keys)
    if (!shrinks || part === 'tenant' || part === 'process') return limits[part]
    const free = Math.min(computeFree('tenant', keys), computeFree('process', keys))
    return Math.max(1, Math.floor(limits[part] * Math.min(1, 2 * free)))
  }

  /** Begins to count what a holder has open. */
  function open(holder: Holder): Hold {
    const keys = toKeys(holder)
    const held: [Part, Count][] = []
    let total = 0
    let isEnded = false
    const requireRoom = (amount: number): void => {
      for (const part of PARTS) {
        const limit = computeLimit(part, keys)
        if (counts[part].get(keys[part]) + amount > limit)
          throw new RateLimited(
            retrySeconds,
            `Too many ${what}: ${limit} may be open at once ${WHOSE[part]}.`,
          )
      }
    }
    return {
      requireRoom,
      add: (amount, isForced = false) => {
        if (isEnded) return
        if (!isForced) requireRoom(amount)
        const isFirst = total === 0
        for (const part of PARTS) {
          const count = counts[part].add(keys[part], amount)
          if (isFirst) held.push([part, count])
        }
        total += amount
      },
      end: () => {
        if (isEnded) return
        isEnded = true
        for (const [part, count] of held) counts[part].subtract(count, total)
      },
    }
  }

  return {
    open,
    /** Whether nothing is counted: every holder has room. */
    isUnused: (): boolean => counts.process.get('') === 0,
    /** Counts one, or another amount, until the returned function is called. Throws RateLimited when a limit is reached. */
    hold: (holder: Holder, amount = 1): (() => void) => {
      const { add, end } = open(holder)
      add(amount)
      return end
    },
  }
}
