import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'

const POLL_MS = 100
const LIMIT_MS = 60_000

/** The directory that the first process of a run makes, which then builds. */
export const buildClaimPath = (prefix: string): string => join(tmpdir(), `${prefix}_build`)

let isBuilt = false

/**
 * Bundles `src` into `dist`, once in each run and only when a test needs it: the processes that tests start are the ones
 * that are shipped.
 */
export function ensureBuilt(): void {
  if (isBuilt) return
  const claim = buildClaimPath(inject('database').prefix)
  const done = join(claim, 'done')
  if (claimDirectory(claim)) {
    if (!isCurrent()) execFileSync('npx', ['tsx', 'build.ts'], { stdio: 'inherit' })
    writeFileSync(done, '')
  }
  const pause = new Int32Array(new SharedArrayBuffer(4))
  for (const deadline = Date.now() + LIMIT_MS; !existsSync(done); Atomics.wait(pause, 0, 0, POLL_MS))
    if (Date.now() > deadline) throw new Error('the build of another test process did not end')
  isBuilt = true
}

/** Whether `dist` was built from the present sources, as by another run in this directory. */
function isCurrent(): boolean {
  try {
    execFileSync('npx', ['tsx', 'build.ts', '--is-current'])
    return true
  } catch {
    return false
  }
}

/** Whether this process is the first to make the directory. */
function claimDirectory(path: string): boolean {
  try {
    mkdirSync(path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}
