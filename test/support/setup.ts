import { randomBytes } from 'node:crypto'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, inject } from 'vitest'

// Runs in the process of each test file before its imports, because src/env.ts reads the environment once, on import.
// Hooks of the test file run before the ones here, so that it has closed its connections when its database goes.

const database = inject('database')

process.env.NODE_ENV = 'test'
process.env.LOG_LEVEL ??= 'silent'
process.env.PORT = '0'
// Upstream providers of the tests run on this machine.
process.env.FETCH_PRIVATE = '1'
process.env.BASE_URL = 'http://localhost:3000'
process.env.ENCRYPTION_KEY = Buffer.alloc(32, 'vestibule-test-key').toString('base64url')
delete process.env.DATABASE_URL
delete process.env.REDIS_URL

const dataDir = await mkdtemp(join(tmpdir(), 'vestibule-test-'))
process.env.DATA_DIR = dataDir
afterAll(() => rm(dataDir, { recursive: true, force: true }))

if (database.kind === 'embedded') {
  // initdb and the migrations take seconds, a copy of their result does not.
  await cp(join(database.templateDirectory, 'db'), join(dataDir, 'db'), { recursive: true })
} else {
  const { adminUrl, redisUrl, template, prefix } = database
  const name = `${prefix}_${randomBytes(4).toString('hex')}`
  const administer = async (statement: string) => {
    const admin = new pg.Client({ connectionString: adminUrl })
    await admin.connect()
    await admin.query(statement).finally(() => admin.end())
  }
  await administer(`CREATE DATABASE ${name} TEMPLATE ${template}`)
  afterAll(() => administer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))
  const url = new URL(adminUrl)
  url.pathname = `/${name}`
  process.env.DATABASE_URL = url.href
  process.env.REDIS_URL = redisUrl
}
