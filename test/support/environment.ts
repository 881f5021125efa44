import { randomBytes } from 'node:crypto'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import { createDatabase, withConnection } from './databases.ts'
import { startDnsServer } from './dns-server.ts'

/** Closers that run before the database of this process is dropped. */
export const closers: (() => Promise<unknown>)[] = []

/** Calls each closer once, the newest first. */
export async function closeAll(): Promise<void> {
  for (let close = closers.pop(); close; close = closers.pop()) await close()
}

/**
 * Prepares this process for imports of src, which reads the environment once: sets its variables and begins to
 * create a migrated database, which is ready when `database` resolves. The end of the run drops it (global.ts).
 */
export async function prepareEnvironment(): Promise<{ dataDir: string; database: Promise<void> }> {
  process.env.NODE_ENV = 'test'
  process.env.LOG_LEVEL ??= 'silent'
  process.env.PORT = '0'
  // Upstream providers of the tests run on this machine.
  process.env.FETCH_PRIVATE = '1'
  process.env.BASE_URL = 'http://localhost:3000'
  process.env.ENCRYPTION_KEY = Buffer.alloc(32, 'vestibule-test-key').toString('base64url')
  // All tests are one network, and each file of the project `shared` continues with what is left.
  process.env.MAIL_DOMAINS = 'example.com,mail.example,a.example'
  process.env.NETWORK_STORAGE_MB = '200'
  process.env.DNS_SERVERS = await startDnsServer()
  delete process.env.DATABASE_URL
  delete process.env.REDIS_URL
  const dataDir = await mkdtemp(join(tmpdir(), 'vestibule-test-'))
  process.env.DATA_DIR = dataDir

  const { adminUrl, redisUrl, template, prefix } = inject('database')
  const name = `${prefix}_${randomBytes(4).toString('hex')}`
  const url = new URL(adminUrl)
  url.pathname = `/${name}`
  process.env.DATABASE_URL = url.href
  if (redisUrl) process.env.REDIS_URL = redisUrl
  process.env.REDIS_PREFIX = name
  const database = withConnection(adminUrl, (admin) => createDatabase(admin, name, template))
  return { dataDir, database }
}
