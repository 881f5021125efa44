import { system } from '../database/system.ts'
import { countEvents } from '../events/daily-counts/daily-counts.sql.ts'
import { startRepeatedJob } from './scheduler.ts'

const INTERVAL_MS = 15_000
const BATCH = 5000
/** The next run continues. */
const MAX_BATCHES = 100

/** Adds the events that are not counted yet to the counters of their days. See docs/decisions/0155. */
export async function countNewEvents(): Promise<void> {
  for (let batch = 0; batch < MAX_BATCHES; batch++) if ((await countEvents(system, BATCH)) < BATCH) return
}

/** Counts about every 15 s, until the returned function is called. */
export const startDailyCounts = (): (() => void) =>
  startRepeatedJob('the count of events', INTERVAL_MS, countNewEvents)
