import { Worker } from 'node:worker_threads'
import { RateLimited } from '../core/errors.ts'
import { PACKAGE_ROOT } from '../core/package-root.ts'
import type { PasswordHash } from './password-hash.ts'

/** From src, Node runs the source; the bundle has it as a file of its own. */
const WORKER = import.meta.url.endsWith('.ts')
  ? new URL('compare.worker.mjs', import.meta.url)
  : new URL('dist/old-passwords/compare.worker.js', PACKAGE_ROOT)

/** Comparisons that wait in this process, and those of one tenant: about ten seconds of the slowest common hash. */
const MAX_WAITING = 24
const MAX_WAITING_OF_TENANT = 12
/** Until somebody who was turned away may try again. */
const RETRY_SECONDS = 10
/** A comparison that takes longer is given up: the bounds of an import keep it near three seconds. */
const TIMEOUT_MS = 20_000
/** A worker without work ends, and returns its memory. */
const IDLE_MS = 30_000

type Comparison = {
  tenant: string
  password: string
  stored: PasswordHash
  resolve: (isRight: boolean) => void
  reject: (error: Error) => void
}

const waiting: Comparison[] = []
let worker: Worker | null = null
let current: { comparison: Comparison; timer: NodeJS.Timeout } | null = null
let idle: NodeJS.Timeout | undefined

function openWorker(): Worker {
  const opened = new Worker(WORKER, { resourceLimits: { maxOldGenerationSizeMb: 64 } })
  // A process ends without waiting for it.
  opened.unref()
  opened.on('message', ({ isRight, error }: { isRight?: boolean; error?: string }) =>
    finish(opened, error === undefined ? isRight === true : new Error(error)),
  )
  opened.on('error', (error) => closeWorker(opened, error))
  return opened
}

/** Ends the current comparison with its result, and starts the next one. */
function finish(by: Worker, result: boolean | Error): void {
  if (by !== worker || !current) return
  const { comparison, timer } = current
  clearTimeout(timer)
  current = null
  if (result instanceof Error) comparison.reject(result)
  else comparison.resolve(result)
  startNext()
}

function closeWorker(closed: Worker, error: Error): void {
  if (closed !== worker) return
  void closed.terminate()
  const failed = current
  worker = null
  current = null
  if (failed) {
    clearTimeout(failed.timer)
    failed.comparison.reject(error)
  }
  startNext()
}

function startNext(): void {
  clearTimeout(idle)
  if (current) return
  const comparison = waiting.shift()
  if (!comparison) {
    const unused = worker
    if (unused) idle = setTimeout(() => closeWorker(unused, new Error('was idle')), IDLE_MS).unref()
    return
  }
  worker ??= openWorker()
  const busy = worker
  const timer = setTimeout(() => closeWorker(busy, new Error('a comparison took too long')), TIMEOUT_MS)
  current = { comparison, timer: timer.unref() }
  busy.postMessage({ password: comparison.password, stored: comparison.stored })
}

/** Throws RateLimited when too many comparisons wait, before a guess is counted. */
export function requireRoomForComparison(tenant: string): void {
  const ofTenant = waiting.filter((comparison) => comparison.tenant === tenant).length
  if (waiting.length >= MAX_WAITING || ofTenant >= MAX_WAITING_OF_TENANT) throw new RateLimited(RETRY_SECONDS)
}

/**
 * Whether a password has a hash. One comparison runs at a time in a process, in a thread of its own: requests are served
 * meanwhile, and the memory is that of one. Throws RateLimited when too many wait.
 */
export async function comparePassword(
  tenant: string,
  password: string,
  stored: PasswordHash,
): Promise<boolean> {
  requireRoomForComparison(tenant)
  return new Promise((resolve, reject) => {
    waiting.push({ tenant, password, stored, resolve, reject })
    startNext()
  })
}
