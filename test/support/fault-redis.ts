import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { onTestFinished } from 'vitest'
import { freePort } from './process.ts'

/** A Redis that a test kills or stops. */
export type FaultRedis = { port: number; url: string; child: ChildProcess }

/** Starts redis-server in a directory of its own, on a free port unless one is given. It ends with the test. */
export async function startFaultRedis({
  port,
  config = '',
  args = [],
}: {
  port?: number
  config?: string
  args?: string[]
} = {}): Promise<FaultRedis> {
  const directory = await mkdtemp(join(tmpdir(), 'vestibule-redis-'))
  const at = port ?? (await freePort())
  const file = join(directory, 'redis.conf')
  await writeFile(file, `port ${at}\nbind 127.0.0.1\ndir ${directory}\nsave ""\n${config}`)
  const child = spawn('redis-server', [file, ...args], { stdio: 'ignore' })
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await rm(directory, { recursive: true, force: true })
  })
  await callRedis(at, (redis) => redis.ping())
  return { port: at, url: `redis://127.0.0.1:${at}`, child }
}

export async function callRedis<T>(port: number, use: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis({ port, host: '127.0.0.1', maxRetriesPerRequest: 50 })
  redis.on('error', () => {})
  try {
    return await use(redis)
  } finally {
    redis.disconnect()
  }
}
