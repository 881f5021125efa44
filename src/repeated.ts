import { log } from './log.ts'

/**
 * Does work about every `intervalMs` until the returned function is called. A run that fails is logged, and the next one
 * tries again. Times vary by a quarter, so that not all processes work at once.
 */
export function startRepeated(what: string, intervalMs: number, work: () => Promise<unknown>): () => void {
  let timer: NodeJS.Timeout
  let stopped = false
  const plan = () => {
    timer = setTimeout(run, intervalMs * (0.75 + Math.random() / 2)).unref()
  }
  const run = async () => {
    try {
      await work()
    } catch (error) {
      if (!stopped)
        log.warn({ err: error instanceof Error ? error.message : String(error) }, `${what} failed`)
    }
    if (!stopped) plan()
  }
  plan()
  return () => {
    stopped = true
    clearTimeout(timer)
  }
}
