import { Worker } from 'node:worker_threads'
import { RateLimited } from '../core/errors.ts'
import { PACKAGE_ROOT } from '../core/package-root.ts'
import type { PasswordHash } from './password-hash.ts'

/** From src, Node runs the source; the bundle has it as a file of its own. */
const WORKER = import.meta.url.endsWith('.ts')
  ? new URL('compare.worker.mjs', import.meta.url)
  : new URL('dist/old-passwords/compare.worker.js', PACKAGE_ROOT)

/** Guesses that a process takes at once, and those of one tenant: about ten seconds of the slowest common hash. */
const MAX_GUESSES = 24
const MAX_GUESSES_OF_TENANT = 12
/** Guesses of one tenant that others cannot turn away, while the process has fewer than this in all. */
const KEPT_OF_TENANT = 2
const MAX_WITH_KEPT = 96
/** Until somebody who was turned away may try again. */
const RETRY_SECONDS = 10
/** A comparison that takes longer is given up: the bounds of an import keep it near three seconds. */
const TIMEOUT_MS = 20_000
/** A worker without work ends, and returns its memory. */
const IDLE_MS = 30_000

type Comparison = {
  password: string
  stored: PasswordHash
  resolve: (isRight: boolean) => void
  reject: (error: Error) => void
}

/** The tenants of the guesses that were taken. */
const taken: string[] = []
/** The comparisons that wait, by tenant, in the order of the tenants' turns. */
const waiting = new Map<string, Comparison[]>()
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

/** Takes the first comparison of the tenant whose turn it is, which has its next turn after the others. */
function takeNext(): Comparison | undefined {
  for (const [tenant, [first, ...rest]] of waiting) {
    waiting.delete(tenant)
    if (rest.length > 0) waiting.set(tenant, rest)
    return first
  }
  return undefined
}

function startNext(): void {
  clearTimeout(idle)
  if (current) return
  const comparison = takeNext()
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

function requireRoom(tenant: string): void {
  const ofTenant = taken.filter((other) => other === tenant).length
  const isKept = ofTenant < KEPT_OF_TENANT && taken.length < MAX_WITH_KEPT
  if (ofTenant >= MAX_GUESSES_OF_TENANT || (taken.length >= MAX_GUESSES && !isKept))
    throw new RateLimited(RETRY_SECONDS)
}

/**
 * Takes a guess at a password of a tenant, with room for its comparison: nothing that `guess` counts is then lost. Throws
 * RateLimited when the process has too many guesses.
 */
export async function withRoomForComparison<T>(tenant: string, guess: () => Promise<T>): Promise<T> {
  requireRoom(tenant)
  taken.push(tenant)
  try {
    return await guess()
  } finally {
    taken.splice(taken.indexOf(tenant), 1)
  }
}

/**
 * Whether a password has a hash. One comparison runs at a time in a process, in a thread of its own: requests are served
 * meanwhile, and the memory is that of one. Tenants take turns.
 */
export const comparePassword = (tenant: string, password: string, stored: PasswordHash): Promise<boolean> =>
  new Promise((resolve, reject) => {
    waiting.set(tenant, [...(waiting.get(tenant) ?? []), { password, stored, resolve, reject }])
    startNext()
  })
