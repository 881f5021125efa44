import { setTimeout as sleep } from 'node:timers/promises'
import { platformCtx, SYSTEM_TENANT } from '../../ctx.ts'
import { sql } from '../../db.ts'
import { type EventType, toEventRow, wakeReaders } from '../../events.ts'
import { log } from '../../log.ts'
import { onEnding } from '../../sessions/after-ending.ts'
import { type LogoutAnswer, sendLogoutToken, wasAccepted } from './backchannel-logout.ts'
import {
  claimDeliveries,
  finishDelivery,
  type LogoutDelivery,
  postponeDelivery,
} from './logout-deliveries.sql.ts'

/** Attempts that a process has under way, and about how many of them at one client, and at one tenant's: slow ones delay
 *  only themselves, and no other tenant. */
const CONCURRENT = 32
const PER_CLIENT = 4
const PER_TENANT = 16
/** An attempt takes ten seconds at most. Who has not come back by then has died. */
const LEASE_SECONDS = 20
/** What other processes queued, and what was tried before, is found this often. */
const POLL_MS = 3000
/** Attempts that are under way at the end may finish for this long. What is cut off is tried again by others. */
const FAREWELL_MS = 3000

const FIRST_PAUSE_SECONDS = 2
const LONGEST_PAUSE_SECONDS = 3600

/** The pause after an attempt: 2, 6, 18 seconds and so on, to an hour; a little more for some, so that they do not come together. */
export const pauseAfter = (attempts: number): number =>
  Math.min(FIRST_PAUSE_SECONDS * 3 ** (attempts - 1), LONGEST_PAUSE_SECONDS) * (1 + Math.random() / 4)

const eventOf = ({ tenantId, attempts }: LogoutDelivery, type: EventType, answer: LogoutAnswer): object =>
  toEventRow(platformCtx(tenantId), { type, detail: { attempts, ...answer } })

/** Removes a delivery, and tells how it ended. */
async function finish(delivery: LogoutDelivery, type: EventType, answer: LogoutAnswer): Promise<void> {
  const { tenantId, id } = delivery
  if (await finishDelivery(sql, tenantId, id, [eventOf(delivery, type, answer)])) wakeReaders(tenantId)
}

/** Leaves a delivery for later. After the first attempt, the tenant is told: who runs the client need not wait a day for it. */
async function postpone(
  delivery: LogoutDelivery,
  pauseSeconds: number,
  answer: LogoutAnswer,
  isCutOff: boolean,
): Promise<void> {
  const { tenantId, attempts } = delivery
  // What this process cut off tells nothing of the client.
  const events = attempts === 1 && !isCutOff ? [eventOf(delivery, 'logout.delayed', answer)] : []
  const isMine = await postponeDelivery(sql, tenantId, delivery, pauseSeconds, events)
  if (isMine && events.length > 0) wakeReaders(tenantId)
}

/** Tries once. The row goes when the client was told, or when it is too late for another attempt. */
async function deliver(delivery: LogoutDelivery, signal: AbortSignal): Promise<void> {
  const { tenantId, id, clientId, url, attempts, expiresAt } = delivery
  if (url === null) {
    await finishDelivery(sql, tenantId, id, [])
    return
  }
  const answer = await sendLogoutToken({ ...delivery, url }, signal)
  if (wasAccepted(answer)) return finish(delivery, 'logout.delivered', answer)
  log.warn({ tenant: tenantId, clientId, attempts, ...answer }, 'a client did not take its logout token')
  const pauseSeconds = pauseAfter(attempts)
  if (Date.now() + pauseSeconds * 1000 > expiresAt.getTime()) return finish(delivery, 'logout.failed', answer)
  await postpone(delivery, pauseSeconds, answer, signal.aborted)
}

/**
 * Delivers logout tokens that are queued, of all tenants, until the returned function is called, which answers when
 * none is under way any more. Starts when sessions end in this process, and by itself every few seconds.
 */
export function startLogoutDeliveries(): () => Promise<void> {
  const underWay = new Map<Promise<void>, LogoutDelivery>()
  const cutOff = new AbortController()
  let timer: NodeJS.Timeout
  let stopped = false
  let isDue = false
  let isClaiming = false
  let claiming = Promise.resolve()

  const start = (delivery: LogoutDelivery): void => {
    const attempt = deliver(delivery, cutOff.signal)
      .catch((error: Error) => log.warn({ err: error.message }, 'a logout delivery was left for later'))
      .finally(() => {
        underWay.delete(attempt)
        wake()
      })
    underWay.set(attempt, delivery)
  }

  /** Clients or tenants that have enough under way. */
  const busy = (of: 'clientId' | 'tenantId', enough: number): string[] => {
    const ids = [...underWay.values()].map((delivery) => delivery[of])
    return [...new Set(ids)].filter((id) => ids.filter((each) => each === id).length >= enough)
  }

  const claim = async (): Promise<void> => {
    let found = true
    while (found && !stopped && underWay.size < CONCURRENT) {
      const deliveries = await claimDeliveries(sql, SYSTEM_TENANT, {
        limit: CONCURRENT - underWay.size,
        perClient: PER_CLIENT,
        perTenant: PER_TENANT,
        exceptClients: busy('clientId', PER_CLIENT),
        exceptTenants: busy('tenantId', PER_TENANT),
        leaseSeconds: LEASE_SECONDS,
      })
      deliveries.forEach(start)
      found = deliveries.length > 0
    }
  }

  const claimAll = async (): Promise<void> => {
    isClaiming = true
    try {
      while (isDue && !stopped) {
        isDue = false
        await claim()
      }
    } catch (error) {
      const err = error instanceof Error ? error.message : String(error)
      if (!stopped) log.warn({ err }, 'logout deliveries could not be read')
    } finally {
      isClaiming = false
    }
  }

  /** Claims what is due; when that is under way already, once more afterwards. */
  const wake = (): void => {
    isDue = true
    if (!isClaiming && !stopped) claiming = claimAll()
  }

  const poll = (): void => {
    wake()
    // Not all processes at once.
    timer = setTimeout(poll, POLL_MS * (0.75 + Math.random() / 2)).unref()
  }

  const stopListening = onEnding(wake)
  poll()
  return async () => {
    stopped = true
    clearTimeout(timer)
    stopListening()
    await claiming
    const allDone = Promise.all(underWay.keys())
    await Promise.race([allDone, sleep(FAREWELL_MS, undefined, { ref: false })])
    cutOff.abort()
    await allDone
  }
}
