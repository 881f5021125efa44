import { log } from '../core/log.ts'
import { isTransientError } from '../core/transient-errors.ts'

/**
 * What nothing else has caught. Every connection has a listener for its errors, so that a lost one never gets
 * here; if one does, the request that needed it fails and the process goes on. Any other exception ends the
 * process, because its state is unknown.
 */
export function handleUncaughtErrors(): void {
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'a rejection was not handled'))
  process.on('uncaughtException', (error) => {
    if (isTransientError(error)) return log.error({ err: error }, 'the error of a connection was not handled')
    log.fatal({ err: error }, 'an exception was not handled')
    process.exit(1)
  })
}
