import progress from 'cli-progress'

/** What a long command tells while it works. It goes to stderr, as the output may be a stream of its own. */
export type Progress = { at: (done: number, note: string) => void; stop: () => void }

/** How often somebody who reads a log wants to be told. */
const QUIET_MS = 10_000

/** A bar on a terminal (of `total`, where that is known); a line now and then elsewhere; nothing when not asked for. */
export function startProgress({ total, isShown }: { total: number | null; isShown: boolean }): Progress {
  if (!isShown) return { at: () => {}, stop: () => {} }
  if (!process.stderr.isTTY) {
    let toldAt = Date.now()
    return {
      at: (_done, note) => {
        if (Date.now() - toldAt < QUIET_MS) return
        toldAt = Date.now()
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
    at: (done, note) => bar.update(total === null ? 0 : Math.min(done, total), { note }),
    stop: () => bar.stop(),
  }
}
