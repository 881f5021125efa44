import { setTimeout as sleep } from 'node:timers/promises'
import { type LogEvent, readEvents } from '../../src/events.ts'

const BEGINNING = { era: 0, xid: 0n, seq: 0n }

/** A tenant's whole log. Entries stay hidden while any older transaction of the cluster is open, in whatever database: waits for that. */
export async function logOf(tenant: string): Promise<LogEvent[]> {
  for (;;) {
    const { events, hidden } = await readEvents(tenant, BEGINNING, 1000)
    if (!hidden) return events
    await sleep(10)
  }
}
