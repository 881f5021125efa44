import { setTimeout as sleep } from 'node:timers/promises'
import { onSessionsEnded } from '../../access/session-end-listeners.ts'
import { createPlatformCtx } from '../../core/context.ts'
import { errorMessage } from '../../core/error-message.ts'
import { log } from '../../core/log.ts'
import { SYSTEM_TENANT } from '../../core/scopes.ts'
import { sql } from '../../database/db.ts'
import type { LogoutEventType } from '../../events/grant-events.ts'
import { logoutAttempted } from '../../events/grant-events.ts'
import { createEventRow, wakeReaders } from '../../events/log.ts'
import { isAccepted, type LogoutAnswer, sendLogoutToken } from './backchannel-logout.ts'
import {
  claimLogoutDeliveries,
  deleteDelivery,
  type LogoutDelivery,
  postponeDelivery,
} from './logout-deliveries.sql.ts'

/**
 * Concurrent attempts of one process: in total, per client and per tenant. Slow clients delay only
 * themselves, and no other tenant.
 */
const MAX_CONCURRENT = 32
const MAX_PER_CLIENT = 4
const MAX_PER_TENANT = 16
/** An attempt takes at most ten seconds. A process that has not finished by then is considered dead. */
const LEASE_SECONDS = 20
/** How often deliveries that other processes queued, and postponed ones, are looked for. */
const POLL_MS = 3000
/** How long running attempts may finish at shutdown. Aborted ones are repeated by another process. */
const SHUTDOWN_GRACE_MS = 3000

const FIRST_PAUSE_SECONDS = 2
const MAX_PAUSE_SECONDS = 3600

/**
 * The pause after an attempt: 2, 6, 18 seconds and so on, up to an hour, plus up to a quarter at random, so
 * that retries spread.
 */
export const computePauseSeconds = (attempts: number): number =>
  Math.min(FIRST_PAUSE_SECONDS * 3 ** (attempts - 1), MAX_PAUSE_SECONDS) * (1 + Math.random() / 4)

const createDeliveryEvent = (
  { tenantId, attempts }: LogoutDelivery,
  type: LogoutEventType,
  answer: LogoutAnswer,
): object => createEventRow(createPlatformCtx(tenantId), logoutAttempted(type, { attempts, ...answer }))

/** Deletes a delivery and records its result. */
async function finishLogoutDelivery(
  delivery: LogoutDelivery,
  type: LogoutEventType,
  answer: LogoutAnswer,
): Promise<void> {
  const { tenantId, id } = delivery
  if (await deleteDelivery(sql, tenantId, id, [createDeliveryEvent(delivery, type, answer)]))
    wakeReaders(tenantId)
}

/**
 * Postpones a delivery. The first failure is recorded, so that the operator of the client learns of it within
 * seconds, not after the last attempt a day later.
 */
async function postponeLogoutDelivery(
  delivery: LogoutDelivery,
  pauseSeconds: number,
  answer: LogoutAnswer,
  isAborted: boolean,
): Promise<void> {
  const { tenantId, attempts } = delivery
  // An aborted attempt says nothing about the client.
  const events = attempts === 1 && !isAborted ? [createDeliveryEvent(delivery, 'logout.delayed', answer)] : []
  const isPostponed = await postponeDelivery(sql, tenantId, delivery, pauseSeconds, events)
  if (isPostponed && events.length > 0) wakeReaders(tenantId)
}

/**
 * Attempts a delivery once. The row is deleted when the client accepts the token, or when it expires before
 * the next attempt.
 */
async function attemptDelivery(delivery: LogoutDelivery, signal: AbortSignal): Promise<void> {
  const { tenantId, id, clientId, url, attempts, expiresAt } = delivery
  if (url === null) {
    await deleteDelivery(sql, tenantId, id, [])
    return
  }
  const answer = await sendLogoutToken({ ...delivery, url }, signal)
  if (isAccepted(answer)) return finishLogoutDelivery(delivery, 'logout.delivered', answer)
  log.warn({ tenant: tenantId, clientId, attempts, ...answer }, 'a client did not accept its logout token')
  const pauseSeconds = computePauseSeconds(attempts)
  if (Date.now() + pauseSeconds * 1000 > expiresAt.getTime())
    return finishLogoutDelivery(delivery, 'logout.failed', answer)
  await postponeLogoutDelivery(delivery, pauseSeconds, answer, signal.aborted)
}

/**
 * Delivers queued logout tokens of all tenants, whenever sessions end in this process and every few seconds.
 * The returned function stops it and resolves when no attempt is running.
 */
export function startLogoutDeliveries(): () => Promise<void> {
  const running = new Map<Promise<void>, LogoutDelivery>()
  const abort = new AbortController()
  let timer: NodeJS.Timeout
  let stopped = false
  let isDue = false
  let isClaiming = false
  let claiming = Promise.resolve()

  const startDelivery = (delivery: LogoutDelivery): void => {
    const attempt = attemptDelivery(delivery, abort.signal)
      .catch((error: Error) => log.warn({ err: error.message }, 'a logout delivery is postponed'))
      .finally(() => {
        running.delete(attempt)
        wake()
      })
    running.set(attempt, delivery)
  }

  /** Ids of the clients or tenants that have reached the limit. */
  const listBusy = (member: 'clientId' | 'tenantId', limit: number): string[] => {
    const ids = [...running.values()].map((delivery) => delivery[member])
    return [...new Set(ids)].filter((id) => ids.filter((each) => each === id).length >= limit)
  }

  const claimBatch = async (): Promise<void> => {
    let found = true
    while (found && !stopped && running.size < MAX_CONCURRENT) {
      const deliveries = await claimLogoutDeliveries(sql, SYSTEM_TENANT, {
        limit: MAX_CONCURRENT - running.size,
        perClient: MAX_PER_CLIENT,
        perTenant: MAX_PER_TENANT,
        exceptClients: listBusy('clientId', MAX_PER_CLIENT),
        exceptTenants: listBusy('tenantId', MAX_PER_TENANT),
        leaseSeconds: LEASE_SECONDS,
      })
      deliveries.forEach(startDelivery)
      found = deliveries.length > 0
    }
  }

  const claimAll = async (): Promise<void> => {
    isClaiming = true
    try {
      while (isDue && !stopped) {
        isDue = false
        await claimBatch()
      }
    } catch (error) {
      const err = errorMessage(error)
      if (!stopped) log.warn({ err }, 'cannot claim logout deliveries')
    } finally {
      isClaiming = false
    }
  }

  /** Claims what is due; when a claim is already running, once more after it. */
  const wake = (): void => {
    isDue = true
    if (!isClaiming && !stopped) claiming = claimAll()
  }

  const poll = (): void => {
    wake()
    // Random, so that processes do not poll at the same time.
    timer = setTimeout(poll, POLL_MS * (0.75 + Math.random() / 2)).unref()
  }

  const stopListening = onSessionsEnded(wake)
  poll()
  return async () => {
    stopped = true
    clearTimeout(timer)
    stopListening()
    await claiming
    const allDone = Promise.all(running.keys())
    await Promise.race([allDone, sleep(SHUTDOWN_GRACE_MS, undefined, { ref: false })])
    abort.abort()
    await allDone
  }
}
