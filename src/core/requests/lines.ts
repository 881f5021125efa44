import { pino } from 'pino'
import { env } from '../env.ts'
import { LINE_OPTIONS } from '../log.ts'
import { countDroppedLine } from '../metrics.ts'
import type { RequestFacts } from './facts.ts'
import { formatForTerminal } from './terminal-line.ts'

/** Lines that wait for standard output, in characters. Further ones are dropped and counted. */
const MAX_WAITING = 1_000_000
/** Writes of this size to a pipe are not mixed with others (POSIX, PIPE_BUF). */
const MAX_WRITE = 4096
const FLUSH_MS = 500

type Output = ReturnType<typeof pino.destination>

/** Opens a destination that never blocks the event loop: what standard output does not take is dropped. */
export function openLines(fd = 1): Output {
  const output = pino.destination({ dest: fd, sync: false, maxLength: MAX_WAITING, maxWrite: MAX_WRITE })
  output.on('drop', countDroppedLine)
  // A closed pipe: the process that reads the lines is gone.
  output.on('error', countDroppedLine)
  return output
}

let output: Output | undefined
let logLine: ((facts: RequestFacts) => void) | undefined

function createLogLine(): (facts: RequestFacts) => void {
  const lines = openLines()
  output = lines
  if (!env.isProduction && process.stdout.isTTY) return (facts) => lines.write(formatForTerminal(facts))
  const logger = pino({ ...LINE_OPTIONS, level: 'info' }, lines)
  return (facts) => logger.info(facts, 'request')
}

/** Writes the line of a finished request, if its status or its share has one. */
export function writeRequestLine(facts: RequestFacts, isChosen: boolean): void {
  const { fromStatus } = env.requestLog
  if (!isChosen && (fromStatus === undefined || facts.status < fromStatus)) return
  logLine ??= createLogLine()
  logLine(facts)
}

/** Waits for the lines that are not written yet, at most half a second. */
export const flushRequestLines = (): Promise<void> =>
  new Promise((resolve) => {
    if (!output) return resolve()
    setTimeout(resolve, FLUSH_MS).unref()
    output.flush(() => resolve())
  })
