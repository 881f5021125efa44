import { styleText } from 'node:util'
import { pino } from 'pino'
import { env } from '../env.ts'
import { LINE_OPTIONS } from '../log.ts'
import { countDroppedLine } from '../metrics.ts'
import type { RequestFacts } from './facts.ts'

const getColor = (status: number): 'red' | 'yellow' | 'cyan' | 'green' =>
  status >= 500 ? 'red' : status >= 400 ? 'yellow' : status >= 300 || status < 200 ? 'cyan' : 'green'

/** One request in a line for people, with the colors of a terminal. */
export function formatForTerminal(facts: RequestFacts, now = new Date()): string {
  const { method, route, status, ms, databaseMs, statements, tenant, client, organization } = facts
  const color = (name: Parameters<typeof styleText>[0], text: string) =>
    styleText(name, text, { validateStream: false })
  return `${[
    color('dim', now.toTimeString().slice(0, 8)),
    color(getColor(status), String(status)),
    color('bold', method.padEnd(4)),
    route + (facts.operation ? ` ${facts.operation}` : ''),
    `${ms} ms`,
    statements > 0 && color('dim', `${statements} in ${databaseMs} ms`),
    facts.broken && color('red', 'broken off'),
    color('dim', [tenant, client, organization, facts.requestId].filter(Boolean).join(' ')),
  ]
    .filter(Boolean)
    .join('  ')}\n`
}

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
