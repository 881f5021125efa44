import cluster from 'node:cluster'
import { setTimeout as sleep } from 'node:timers/promises'
import { createApp } from './app.ts'
import { bannerOf } from './banner.ts'
import { bootstrap } from './bootstrap.ts'
import { startCleanup } from './cleanup.ts'
import { env } from './env.ts'
import { log } from './log.ts'
import { startKeyRotation } from './oidc/keys/key-schedule.ts'
import { startLogoutDeliveries } from './oidc/logout/logout-deliveries.ts'
import { closeRuntime, openRuntime } from './runtime.ts'

/** A process that has not stopped by itself by now is ended: balancers and systemd wait no longer. */
const EXIT_LIMIT_MS = 9500

async function serve(): Promise<void> {
  await openRuntime()
  const report = await bootstrap()
  const app = await createApp()
  const stopRepeated = [startCleanup(), startKeyRotation()]
  const stopDeliveries = startLogoutDeliveries()
  const { port } = await app.listen()
  if (!cluster.isWorker || cluster.worker?.id === 1) process.stdout.write(bannerOf(report, port))
  log.info({ port }, 'ready')

  let stopping = false
  const stop = async (signal: string): Promise<void> => {
    if (stopping) return
    stopping = true
    log.info({ signal }, 'stopping')
    setTimeout(() => process.exit(1), EXIT_LIMIT_MS).unref()
    for (const stop of stopRepeated) stop()
    await Promise.all([app.close(), stopDeliveries()])
    await closeRuntime()
    process.exit(0)
  }
  process.on('SIGTERM', () => void stop('SIGTERM'))
  process.on('SIGINT', () => void stop('SIGINT'))
}

/** Keeps WORKERS processes on one port; one that dies is replaced, after a pause in case it dies at once. */
function supervise(): void {
  let stopping = false
  for (let index = 0; index < env.workers; index++) cluster.fork()
  cluster.on('exit', async (worker, code) => {
    if (stopping) return
    log.error({ pid: worker.process.pid, code }, 'a worker ended and is replaced')
    await sleep(1000)
    if (!stopping) cluster.fork()
  })
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => {
      stopping = true
      for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGTERM')
    })
}

if (env.workers > 1 && cluster.isPrimary) supervise()
else
  serve().catch((error: unknown) => {
    log.fatal({ err: error }, 'Vestibule could not start')
    process.exit(1)
  })
