import { resolve } from 'node:path'
import { type Env, env } from '../core/env.ts'
import { StartError } from '../core/start-error.ts'
import { isTransientError } from '../core/transient-errors.ts'

type SystemError = Error & {
  code?: string
  syscall?: string
  port?: number
  address?: string
  path?: string
}

/** Where DATABASE_URL leads, without its credentials. */
function describeDatabase({ databaseUrl }: Env): string {
  if (!databaseUrl) return 'in DATA_DIR'
  const { host, pathname, searchParams } = new URL(databaseUrl)
  return `of DATABASE_URL (${searchParams.get('host') ?? host}${pathname})`
}

const LISTEN_PROBLEMS: Record<string, string> = {
  EADDRINUSE: 'is in use by another process',
  EACCES: 'requires more rights than this user has',
  EADDRNOTAVAIL: 'does not belong to an address of this machine: see HOST',
}

/** One sentence about a known reason why the program cannot start; null for any other error. */
export function explainStartError(error: unknown, config: Env = env): string | null {
  if (!(error instanceof Error)) return null
  if (error instanceof StartError) return error.message
  const { code = '', syscall, port, address, path, message } = error as SystemError
  if (path && resolve(path).startsWith(resolve(config.dataDir)))
    return `DATA_DIR (${config.dataDir}) cannot be used: ${message}.`
  if (syscall === 'listen' && LISTEN_PROBLEMS[code])
    return `Port ${port} of ${address} ${LISTEN_PROBLEMS[code]}.`
  if (code === '3D000') return `The database ${describeDatabase(config)} does not exist.`
  if (code.startsWith('28'))
    return `The database ${describeDatabase(config)} does not accept the user: ${message}.`
  if (isTransientError(error))
    return `The database ${describeDatabase(config)} does not answer: ${[code, message].filter(Boolean).join(' ')}.`
  return null
}
