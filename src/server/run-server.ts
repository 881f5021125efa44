import cluster from 'node:cluster'
import { listUnknownVariables } from '../core/env.ts'
import { releaseYoungGeneration } from '../core/heap.ts'
import { log } from '../core/log.ts'
import { openLocations } from '../core/network/ip-location.ts'
import { flushRequestLines } from '../core/requests/lines.ts'
import { startTracing, stopTracing } from '../core/requests/spans.ts'
import { isTransientError } from '../core/transient-errors.ts'
import { verifyMailServer } from '../delivery/mail.ts'
import { startAccountDeletions } from '../jobs/account-deletions.ts'
import { startBulkJobs } from '../jobs/bulk-jobs.ts'
import { startCleanup } from '../jobs/cleanup.ts'
import { startDailyCounts } from '../jobs/daily-counts.ts'
import { startDomainChecks } from '../jobs/domain-checks.ts'
import { startKeyRotation } from '../jobs/key-schedule.ts'
import { startRangeDivision } from '../jobs/user-ranges.ts'
import { startLogoutDeliveries } from '../oidc/logout/logout-deliveries.ts'
import { startSignalFollowing } from '../signals/follow-log.ts'
import { startSignalDeliveries } from '../signals/push.ts'
import { startWebhookDeliveries } from '../webhooks/deliver.ts'
import { startWebhookFollowing } from '../webhooks/follow-log.ts'
import { bootstrap, formatBanner } from './bootstrap.ts'
import { closeRuntime, openRuntime } from './runtime.ts'
import type { SentSchema } from './schema.ts'
import { explainStartError } from './start-errors.ts'
import { startMetricsServer } from './worker-metrics.ts'
import { reportReady } from './workers.ts'

/**
 * Tries what the variables name. Throws when GEOIP_DB cannot be read. Warns of variables that look misspelled,
 * and in the background of a mail server that does not accept a connection, which may be back before it is
 * needed.
 */
function checkConfiguration(): void {
  for (const warning of listUnknownVariables()) log.warn(warning)
  openLocations()
  void verifyMailServer().then((problem) => {
    if (problem) log.warn({ err: problem }, 'SMTP_URL: the mail server cannot be used')
  })
}

/**
 * What nothing else has caught. Every connection has a listener for its errors, so that a lost one never gets
 * here; if one does, the request that needed it fails and the process goes on. Any other exception ends the
 * process, because its state is unknown.
 */
function handleUncaughtErrors(): void {
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'a rejection was not handled'))
  process.on('uncaughtException', (error) => {
    if (isTransientError(error)) return log.error({ err: error }, 'the error of a connection was not handled')
    log.fatal({ err: error }, 'an exception was not handled')
    process.exit(1)
  })
}

/**
 * A process that has not stopped by then is terminated, because load balancers and systemd wait for ten
 * seconds.
 */
const EXIT_TIMEOUT_MS = 9500

/** Creates the application once the runtime is open. */
type CreateApp = () => Promise<{ listen: () => Promise<{ port: number }>; close: () => Promise<void> }>

async function startServer(schema: Promise<SentSchema>, createApp: CreateApp): Promise<void> {
  handleUncaughtErrors()
  checkConfiguration()
  await startTracing()
  await openRuntime({ schema: await schema })
  const report = await bootstrap()
  const app = await createApp()
  const stopRepeated = [
    startCleanup(),
    startAccountDeletions(),
    startKeyRotation(),
    startRangeDivision(),
    startDailyCounts(),
    startDomainChecks(),
  ]
  const stopDeliveries = [
    startLogoutDeliveries(),
    startWebhookFollowing(),
    startWebhookDeliveries(),
    startSignalFollowing(),
    startSignalDeliveries(),
  ]
  const stopBulkJobs = startBulkJobs()
  const { port } = await app.listen()
  const stopMetrics = await startMetricsServer()
  if (!cluster.isWorker || cluster.worker?.id === 1) process.stdout.write(formatBanner(report, port))
  log.info({ port }, 'ready')
  reportReady()
  releaseYoungGeneration()

  let stopping = false
  const stop = async (signal: string): Promise<void> => {
    if (stopping) return
    stopping = true
    log.info({ signal }, 'stopping')
    setTimeout(() => process.exit(1), EXIT_TIMEOUT_MS).unref()
    for (const stop of stopRepeated) stop()
    stopMetrics()
    await Promise.all([app.close(), ...stopDeliveries.map((stop) => stop()), stopBulkJobs()])
    await closeRuntime()
    await Promise.all([flushRequestLines(), stopTracing()])
    process.exit(0)
  }
  process.on('SIGTERM', () => void stop('SIGTERM'))
  process.on('SIGINT', () => void stop('SIGINT'))
}

/** Runs the server. Ends the process, and says why, when it cannot start. */
export async function runServer(schema: Promise<SentSchema>, createApp: CreateApp): Promise<void> {
  try {
    await startServer(schema, createApp)
  } catch (error) {
    const sentence = explainStartError(error)
    if (sentence) process.stderr.write(`Vestibule cannot start: ${sentence}\n`)
    else log.fatal({ err: error }, 'Vestibule cannot start')
    process.exit(1)
  }
}
