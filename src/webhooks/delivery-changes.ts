import { setTimeout as sleep } from 'node:timers/promises'
import { Handle } from '../database/handle.ts'
import type { Position } from '../model/event-position.ts'
import { selectDeliveryChanges, selectLastDeliveryChange } from './deliveries.sql.ts'
import { findWebhookDeliveries, type WebhookDelivery } from './deliveries.ts'

/** Changes that one read fetches. */
const BATCH = 100
/** How often changes are looked for. Streams of the same caller and variables share this. */
const POLL_MS = 500

type Wanted = { webhookId: string | null; organizationId: string | null }
type Change = Awaited<ReturnType<typeof selectDeliveryChanges>>[number]

const toPosition = ({ era, xid, number }: Pick<Change, 'era' | 'xid' | 'number'>): Position => ({
  era,
  xid: BigInt(xid),
  seq: BigInt(number),
})

/** The position of the newest change of a message in the tenant. */
export async function readNewestChange(db: Handle): Promise<Position> {
  const last = await selectLastDeliveryChange(db)
  return last ? toPosition(last) : { era: 0, xid: 0n, seq: 0n }
}

/**
 * The messages of a tenant that change after a position, as they are when they are read, until the signal is aborted.
 * While the database is unavailable, it waits.
 */
export async function* followDeliveries(
  tenant: string,
  start: Position,
  { webhookId, organizationId, signal }: Wanted & { signal: AbortSignal },
): AsyncGenerator<{ position: Position; delivery: WebhookDelivery }> {
  const db = new Handle({ tenant, workload: 'list' })
  const isWanted = (change: Change) =>
    (webhookId === null || change.webhookId === webhookId) &&
    (organizationId === null || change.organizationId === organizationId)
  const readChanges = async (after: Position) => {
    const changes = await selectDeliveryChanges(db, after, BATCH)
    const ids = changes.filter(isWanted).map(({ id }) => id)
    return { changes, deliveries: ids.length > 0 ? await findWebhookDeliveries(db, ids) : [] }
  }
  for (let at = start; !signal.aborted; ) {
    const { changes, deliveries } = await readChanges(at).catch(() => ({ changes: [], deliveries: [] }))
    for (const change of changes) {
      const delivery = deliveries.find(({ id }) => id === change.id)
      if (delivery) yield { position: toPosition(change), delivery }
    }
    const last = changes.at(-1)
    if (last) at = toPosition(last)
    if (changes.length < BATCH) await sleep(POLL_MS, undefined, { signal, ref: false }).catch(() => undefined)
  }
}
