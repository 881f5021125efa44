import cluster from 'node:cluster'
import { setTimeout as sleep } from 'node:timers/promises'
import { env } from '../core/env.ts'
import { log } from '../core/log.ts'

/**
 * Runs WORKERS processes on one port. A process that dies is replaced after a pause, in case it dies
 * immediately.
 */
export function superviseWorkers(): void {
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
