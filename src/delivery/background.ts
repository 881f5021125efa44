import { randomInt } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { Unavailable } from '../core/errors.ts'
import { log } from '../core/log.ts'

const pendingDeliveries = new Set<Promise<void>>()

/** Aborts the pauses of any number of messages. */
function createPauses(): AbortController {
  const controller = new AbortController()
  setMaxListeners(0, controller.signal)
  return controller
}
let pauses = createPauses()

/**
 * Sends the messages whose pause has not passed at once, and waits for all that are sent in the background.
 * Called before the database is closed.
 */
export async function awaitDeliveries(): Promise<void> {
  while (pendingDeliveries.size > 0) {
    pauses.abort()
    pauses = createPauses()
    await Promise.all(pendingDeliveries)
  }
}

/**
 * The pause before a message is composed and sent: the response is out by then. The random part separates the
 * work from the request that caused it.
 */
const PAUSE_MS = 30
const RANDOM_PAUSE_MS = 30

/**
 * Sends a message in the background, because waiting for it, or for the processor while it is composed, would
 * reveal whether one was sent. Failures are logged. See docs/decisions/0006.
 */
export function deliverInBackground(deliver: () => Promise<void>): void {
  const { signal } = pauses
  const delivery: Promise<void> = setTimeout(PAUSE_MS + randomInt(RANDOM_PAUSE_MS), undefined, { signal })
    .catch(() => {}) // The pause was cut short.
    .then(deliver)
    .catch((error: unknown) => {
      // An outage is logged where it is noticed.
      if (!(error instanceof Unavailable)) log.error({ err: error }, 'a message could not be sent')
    })
    .finally(() => pendingDeliveries.delete(delivery))
  pendingDeliveries.add(delivery)
}
