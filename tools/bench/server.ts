// The program in a separate process, which reports to its parent how many statements it has sent, and the
// longest delay of its event loop.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import pg from 'pg'

let statements = 0
const prototype = pg.Client.prototype as unknown as { query: (...args: unknown[]) => unknown }
const original = prototype.query
prototype.query = function (this: unknown, ...args: unknown[]) {
  statements += 1
  return original.apply(this, args)
}
let delay: ReturnType<typeof monitorEventLoopDelay> | undefined
const answers: Record<string, () => number> = {
  statements: () => statements,
  'start-stall': () => {
    delay = monitorEventLoopDelay({ resolution: 1 })
    delay.enable()
    return 0
  },
  /** The longest delay since the start, in milliseconds, without the resolution. */
  'end-stall': () => {
    delay?.disable()
    return Math.max(0, (delay?.max ?? 0) / 1e6 - 1)
  },
}
process.on('message', (question: string) => process.send?.(answers[question]?.()))

// The build output, because the loader of the sources wraps every function.
await import(new URL('../../dist/main.js', import.meta.url).href)
