import { pino } from 'pino'
import { env } from './env.ts'

/** What all lines have: a level and a time. */
export const LINE_OPTIONS = {
  base: undefined,
  timestamp: pino.stdTimeFunctions.isoTime,
  formatters: { level: (label: string) => ({ level: label }) },
}

/** The process's log: JSON lines on stdout. Never pass it a token, a code, a secret or a request body. */
export const log = pino({ level: env.logLevel, ...LINE_OPTIONS })
