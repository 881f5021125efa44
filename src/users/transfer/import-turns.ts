import { setTimeout as sleep } from 'node:timers/promises'
import { isProtocolActive, takeTurn } from '../../core/turns.ts'
import type { Workload } from '../../core/workload.ts'

/** Lines that are written together while the protocol is in use, whose commits wait for theirs. */
const SHORT_BATCH_LINES = 50

/** The last batch of each tenant that is being written in this process. */
const lastBatches = new Map<string, Promise<unknown>>()

/**
 * Writes lines in one batch, or in short ones while the protocol is in use. Returns the results in the order of
 * the lines.
 */
export async function writeInTurns<Line, Result>(
  workload: Workload,
  lines: readonly Line[],
  write: (part: readonly Line[]) => Promise<Result[]>,
): Promise<Result[]> {
  const results: Result[] = []
  for (let start = 0; start < lines.length; ) {
    const end = isProtocolActive() ? start + SHORT_BATCH_LINES : lines.length
    const part = lines.slice(start, end)
    results.push(...(await runAfterOthers(workload, () => write(part))))
    start = end
  }
  return results
}

/**
 * Imports of one tenant write one batch at a time: more would take connections, and not be faster. While the
 * protocol is in use, each batch is followed by a pause of its own length.
 */
async function runAfterOthers<Result>(workload: Workload, write: () => Promise<Result>): Promise<Result> {
  const { tenant } = workload
  const started = (lastBatches.get(tenant) ?? Promise.resolve())
    .then(() => takeTurn(workload))
    .then(() => performance.now())
  const written = started.then(write)
  const settled = Promise.all([started, written.catch(() => undefined)]).then(([start]) =>
    isProtocolActive() ? sleep(performance.now() - start) : undefined,
  )
  lastBatches.set(tenant, settled)
  void settled.then(() => {
    if (lastBatches.get(tenant) === settled) lastBatches.delete(tenant)
  })
  return written
}
