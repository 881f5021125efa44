import { execFile } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)

const FAST_LIMIT_MS = 20_000
const POLL_MS = 20

/**
 * Ends the PostgreSQL of a process that was killed, and removes the pid file that a killed PostgreSQL leaves:
 * after a restart of the machine or container its pid may belong to another process, for which PostgreSQL
 * would refuse to start. The caller holds the lock of the directory. (PostgreSQL itself rejects data that its
 * own processes still use.)
 */
export async function endOrphan(data: string): Promise<void> {
  const file = join(data, 'postmaster.pid')
  const text = await readFile(file, 'utf8').catch(() => '')
  const pid = Number.parseInt(text, 10)
  const deadline = Date.now() + FAST_LIMIT_MS
  for (let signal: NodeJS.Signals | null = 'SIGINT'; pid > 1 && (await isServerProcess(data, pid)); ) {
    if (signal) process.kill(pid, signal)
    signal = null
    if (Date.now() > deadline)
      throw new Error(`PostgreSQL (process ${pid}) still uses ${data} and does not stop. End that process.`)
    await sleep(POLL_MS)
  }
  await rm(file, { force: true })
}

async function isServerProcess(data: string, pid: number): Promise<boolean> {
  const command = await findCommand(pid)
  return command !== null && /(^|\/)postgres\b/.test(command) && command.includes(` -D ${data} `)
}

/** The command line of a process, words separated by spaces; null when it has ended. */
async function findCommand(pid: number): Promise<string | null> {
  if (process.platform === 'linux')
    return readFile(`/proc/${pid}/cmdline`, 'utf8').then(
      (words) => words.replaceAll('\0', ' '),
      () => null,
    )
  return run('ps', ['-ww', '-o', 'command=', '-p', `${pid}`]).then(
    ({ stdout }) => stdout,
    () => null,
  )
}
