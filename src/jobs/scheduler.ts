import { errorMessage } from '../core/error-message.ts'
import { log } from '../core/log.ts'

/**
 * Runs `work` about every `intervalMs` until the returned function is called. An error is logged, and the
 * next run tries again. Intervals vary by a quarter, so that processes do not run at the same time.
 */
export function startRepeatedJob(what: string, intervalMs: number, work: () => Promise<unknown>): () => void {
  let timer: NodeJS.Timeout
  let stopped = false
  const scheduleRun = () => {
    timer = setTimeout(run, intervalMs * (0.75 + Math.random() / 2)).unref()
  }
  const run = async () => {
    try {
      await work()
    } catch (error) {
      if (!stopped) log.warn({ err: errorMessage(error) }, `${what} failed`)
    }
    if (!stopped) scheduleRun()
  }
  scheduleRun()
  return () => {
    stopped = true
    clearTimeout(timer)
  }
}
