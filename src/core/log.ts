import { pino } from 'pino'
import { env } from './env.ts'

/** The process's log: JSON lines on stdout. Never pass it a token, a code, a secret or a request body. */
export const log = pino({
  level: env.logLevel,
  base: undefined,
  timestamp: pino.stdTimeFunctions.isoTime,
  formatters: { level: (label) => ({ level: label }) },
})
