import cluster from 'node:cluster'
import { setTimeout as sleep } from 'node:timers/promises'
import { createApp } from './app.ts'
import { disablePretenuring } from './core/allocation.ts'
import { env } from './core/env.ts'
import { log } from './core/log.ts'
import { startAccountDeletions } from './jobs/account-deletions.ts'
import { startCleanup } from './jobs/cleanup.ts'
import { startKeyRotation } from './jobs/key-schedule.ts'
import { startRangeDivision } from './jobs/user-ranges.ts'
import { startLogoutDeliveries } from './oidc/logout/logout-deliveries.ts'
import { formatBanner } from './server/banner.ts'
import { bootstrap } from './server/bootstrap.ts'
import { startMetricsServer } from './server/metrics-server.ts'
import { handleUncaughtErrors } from './server/process-errors.ts'
import { closeRuntime, openRuntime } from './server/runtime.ts'
import { checkConfiguration } from './server/start-checks.ts'
import { explainStartError } from './server/start-errors.ts'

/**
 * A process that has not stopped by then is terminated, because load balancers and systemd wait for ten
 * seconds.
 */
const EXIT_TIMEOUT_MS = 9500

async function startServer(): Promise<void> {
  disablePretenuring()
  handleUncaughtErrors()
  checkConfiguration()
  await openRuntime()
  const report = await bootstrap()
  const app = await createApp()
  const stopRepeated = [startCleanup(), startAccountDeletions(), startKeyRotation(), startRangeDivision()]
  const stopDeliveries = startLogoutDeliveries()
  const { port } = await app.listen()
  const stopMetrics = await startMetricsServer()
  if (!cluster.isWorker || cluster.worker?.id === 1) process.stdout.write(formatBanner(report, port))
  log.info({ port }, 'ready')

  let stopping = false
  const stop = async (signal: string): Promise<void> => {
    if (stopping) return
    stopping = true
    log.info({ signal }, 'stopping')
    setTimeout(() => process.exit(1), EXIT_TIMEOUT_MS).unref()
    for (const stop of stopRepeated) stop()
    stopMetrics()
    await Promise.all([app.close(), stopDeliveries()])
    await closeRuntime()
    process.exit(0)
  }
  process.on('SIGTERM', () => void stop('SIGTERM'))
  process.on('SIGINT', () => void stop('SIGINT'))
}

/**
 * Runs WORKERS processes on one port. A process that dies is replaced after a pause, in case it dies
 * immediately.
 */
function superviseWorkers(): void {
  let stopping = false
  for (let index = 0; index < env.workers; index++) cluster.fork()
  cluster.on('exit', async (worker, code) => {
    if (stopping) return
    log.error({ pid: worker.process.pid, code }, 'a worker process ended and is being replaced')
    await sleep(1000)
    if (!stopping) cluster.fork()
  })
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => {
      stopping = true
      for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGTERM')
    })
}

if (env.workers > 1 && cluster.isPrimary) superviseWorkers()
else
  startServer().catch((error: unknown) => {
    const sentence = explainStartError(error)
    if (sentence) process.stderr.write(`Vestibule cannot start: ${sentence}\n`)
    else log.fatal({ err: error }, 'Vestibule cannot start')
    process.exit(1)
  })
