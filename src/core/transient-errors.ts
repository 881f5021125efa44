import { AppError } from './errors.ts'

/**
 * SQLSTATE classes and codes of failures that the database causes and a statement does not: lost connections
 * (08), serialization and deadlocks (40), resources such as a full disk (53), shutdown and timeouts (57), the
 * system (58, XX); a role or database that is not there during a restore (28, 3D); after a fail-over or behind a
 * pooler, a server that only reads, or another one than that which prepared the statement.
 */
const TRANSIENT_SQLSTATE = /^(08|28|3D|40|53|57|58|XX)...$|^(0A000|25006|25P0[34]|26000|42P05|55P03)$/
/** Prisma: the server cannot be reached (P1xxx), timeouts, conflicts, too many connections. */
const TRANSIENT_PRISMA = /^P(1\d{3}|2024|2028|2034|2037)$/
const TRANSIENT_SYSTEM = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
])
/** What pg throws without a code. */
const DRIVER_MESSAGE =
  /Connection terminated|timeout exceeded when trying to connect|Client (has encountered a connection error|was closed) and is not queryable|Cannot use a pool after calling end|Received unexpected .* message from backend/

type DatabaseError = {
  code?: unknown
  message?: unknown
  meta?: { driverAdapterError?: { cause?: { originalCode?: unknown; kind?: unknown } } }
}

const isTransientCode = (code: string): boolean =>
  TRANSIENT_SQLSTATE.test(code) || TRANSIENT_PRISMA.test(code) || TRANSIENT_SYSTEM.has(code)

const UNREACHABLE_KINDS = ['DatabaseNotReachable', 'ConnectionClosed', 'SocketTimeout', 'TooManyConnections']

/** True for an error of the database, of pg or of Prisma, that a retry may not get. */
export function isTransientError(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code, meta } = error as DatabaseError
  const driver = meta?.driverAdapterError?.cause
  // The Unix socket of an embedded server that is starting.
  if (code === 'ENOENT' && (error as NodeJS.ErrnoException).syscall === 'connect') return true
  const codes = [code, driver?.originalCode].filter((each) => typeof each === 'string')
  return (
    codes.some(isTransientCode) ||
    UNREACHABLE_KINDS.includes(String(driver?.kind)) ||
    DRIVER_MESSAGE.test(error.message)
  )
}

/**
 * Throws an error that says nothing about the value that was checked: of the database, or an answer of 429 or
 * 503. For a catch that takes any other error for an invalid value.
 */
export function throwTransient(error: unknown): void {
  if (isTransientError(error) || (error instanceof AppError && [429, 503].includes(error.status))) throw error
}
