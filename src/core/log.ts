import { pino } from 'pino'
import { env } from './env.ts'
import { findRecord } from './requests/record.ts'

/** What all lines have: a level and a time. */
export const LINE_OPTIONS = {
  base: undefined,
  timestamp: pino.stdTimeFunctions.isoTime,
  formatters: { level: (label: string) => ({ level: label }) },
}

/** The trace that a line belongs to. */
function readTrace(): object {
  const trace = findRecord()?.trace
  return trace ? { traceId: trace.traceId } : {}
}

/** The process's log: JSON lines on stdout. Never pass it a token, a code, a secret or a request body. */
export const log = pino({
  level: env.logLevel,
  ...LINE_OPTIONS,
  ...(env.tracing && { mixin: readTrace }),
})
