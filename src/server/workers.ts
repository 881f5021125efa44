import cluster, { type Worker } from 'node:cluster'
import { setTimeout as sleep } from 'node:timers/promises'
import { env } from '../core/env.ts'
import { log } from '../core/log.ts'
import { answerMetricsRequests } from './worker-metrics.ts'

const READY = 'vestibule:ready'

/** Reports to the supervisor that this process serves. */
export function reportReady(): void {
  if (cluster.isWorker) process.send?.(READY)
}

/**
 * Runs WORKERS processes on one port. The first one starts alone: when it ends before it was ready, so does this
 * process, with its exit code, because a restart cures no configuration. Later, a process that dies is replaced after a
 * pause, in case it dies immediately.
 */
export function superviseWorkers(): void {
  let isStopping = false
  let isReady = false
  answerMetricsRequests()
  cluster.fork()
  cluster.on('message', (_worker: Worker, message: unknown) => {
    if (message !== READY || isReady) return
    isReady = true
    for (let index = 1; index < env.workers && !isStopping; index++) cluster.fork()
  })
  cluster.on('exit', async (worker, code) => {
    if (isStopping) return
    if (!isReady) process.exit(code || 1)
    log.error({ pid: worker.process.pid, code }, 'a worker process ended and is being replaced')
    await sleep(1000)
    if (!isStopping) cluster.fork()
  })
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => {
      isStopping = true
      for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGTERM')
    })
}
