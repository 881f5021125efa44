import progress from 'cli-progress'

/** Progress of a long command, on stderr, because stdout may carry its data. */
export type ProgressReporter = { report: (done: number, note: string) => void; stop: () => void }

/** Interval of progress lines when stderr is not a terminal. */
const LOG_INTERVAL_MS = 10_000

/**
 * Shows a progress bar on a terminal (of `total` if it is known), a line per interval otherwise, and nothing
 * unless `isShown`.
 */
export function startProgress({
  total,
  isShown,
}: {
  total: number | null
  isShown: boolean
}): ProgressReporter {
  if (!isShown) return { report: () => {}, stop: () => {} }
  if (!process.stderr.isTTY) {
    let reportedAt = Date.now()
    return {
      report: (_done, note) => {
        if (Date.now() - reportedAt < LOG_INTERVAL_MS) return
        reportedAt = Date.now()
        process.stderr.write(`${note}\n`)
      },
      stop: () => {},
    }
  }
  const format = total === null ? ' {note}' : ' {bar} {percentage}% | {note} | {eta_formatted} left'
  const bar = new progress.SingleBar(
    { format, stream: process.stderr, hideCursor: true, etaBuffer: 50, clearOnComplete: false },
    progress.Presets.shades_classic,
  )
  bar.start(total ?? 1, 0, { note: '' })
  return {
    report: (done, note) => bar.update(total === null ? 0 : Math.min(done, total), { note }),
    stop: () => bar.stop(),
  }
}
