import { setTimeout as sleep } from 'node:timers/promises'
import { Handle } from '../../src/database/handle.ts'
import { type LogEvent, readEvents } from '../../src/events/log.ts'

const BEGINNING = { era: 0, xid: 0n, seq: 0n }

/** A tenant's whole log. Waits for older transactions of the whole cluster, which hide newer events. */
export async function logOf(tenant: string): Promise<LogEvent[]> {
  for (;;) {
    const { events, hidden } = await readEvents(new Handle({ tenant }), BEGINNING, 100_000)
    if (!hidden) return events
    await sleep(10)
  }
}

export const toTypes = (events: LogEvent[]): string[] => events.map(({ type }) => type)

/** All text of events, for assertions about what they must not contain. */
export const toText = (events: object[]): string =>
  JSON.stringify(events, (_, value) => (typeof value === 'bigint' ? String(value) : value))
