import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { type Env, parseEnv } from '../src/env.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'vestibule-env-'))
afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

const key = Buffer.alloc(32, 7).toString('base64url')
const production = {
  NODE_ENV: 'production',
  BASE_URL: 'https://id.example.com',
  DATABASE_URL: 'postgresql://db/vestibule',
  ENCRYPTION_KEY: key,
  SMTP_URL: 'smtp://mail.example.com',
}

function envOf(source: Record<string, string>): Env {
  const result = parseEnv({ DATA_DIR: dataDir, ...source })
  if ('faults' in result) throw new Error(result.faults.join('\n'))
  return result.env
}
function faultsOf(source: Record<string, string>): string[] {
  const result = parseEnv({ DATA_DIR: dataDir, ...source })
  return 'faults' in result ? result.faults : []
}

describe('development', () => {
  test('needs nothing: loopback, port 3000, a demo tenant', () => {
    expect(envOf({})).toMatchObject({
      isProduction: false,
      host: '127.0.0.1',
      port: 3000,
      baseUrl: 'http://localhost:3000',
      demo: true,
      workers: 1,
      trustProxy: 0,
    })
  })

  test('makes an encryption key once, keeps it, and lets nobody else read it', () => {
    const [first] = envOf({}).encryptionKeys
    const [second] = envOf({}).encryptionKeys
    expect(first).toHaveLength(32)
    expect(second).toEqual(first)
    expect(statSync(join(dataDir, 'encryption-key')).mode & 0o777).toBe(0o600)
    expect(readFileSync(join(dataDir, 'encryption-key'), 'utf8').trim()).toBe(first?.toString('base64url'))
  })

  test('an empty variable counts as an unset one', () => {
    expect(envOf({ DATABASE_URL: '', PORT: '' })).toMatchObject({ port: 3000, databaseUrl: undefined })
  })
})

describe('production', () => {
  test('starts with its secrets: all interfaces, no demo tenant', () => {
    expect(envOf(production)).toMatchObject({ isProduction: true, host: '0.0.0.0', demo: false })
  })

  test('names everything that is missing, at once', () => {
    expect(faultsOf({ NODE_ENV: 'production' }).map((fault) => fault.split(':', 1)[0])).toEqual([
      'BASE_URL',
      'DATABASE_URL',
      'ENCRYPTION_KEY',
      'SMTP_URL',
    ])
  })

  test('names faulty and missing variables together', () => {
    const faults = faultsOf({
      NODE_ENV: 'production',
      PORT: '99999',
      BASE_URL: 'https://id.example.com/path',
    })
    expect(faults.map((fault) => fault.split(':', 1)[0]).sort()).toEqual([
      'BASE_URL',
      'DATABASE_URL',
      'ENCRYPTION_KEY',
      'PORT',
      'SMTP_URL',
    ])
  })

  test('the program exits before it does anything, and prints no secret', () => {
    const secret = 'not-a-key-but-secret'
    const result = spawnSync(process.execPath, ['--import', 'tsx', 'src/main.ts'], {
      env: { PATH: process.env.PATH, NODE_ENV: 'production', ENCRYPTION_KEY: secret, DATA_DIR: dataDir },
      encoding: 'utf8',
    })
    expect(result.status).toBe(1)
    expect(result.stderr).toContain('Vestibule cannot start:')
    for (const name of ['BASE_URL', 'DATABASE_URL', 'ENCRYPTION_KEY', 'SMTP_URL'])
      expect(result.stderr).toContain(name)
    expect(result.stderr + result.stdout).not.toContain(secret)
  })
})

test.each([
  ['PORT', { PORT: 'http' }],
  ['BASE_URL', { BASE_URL: 'ftp://id.example.com' }],
  ['DATABASE_URL', { DATABASE_URL: 'mysql://db' }],
  ['REDIS_URL', { REDIS_URL: 'localhost:6379' }],
  ['ENCRYPTION_KEY', { ENCRYPTION_KEY: 'c2hvcnQ' }],
  ['ENCRYPTION_KEY', { ENCRYPTION_KEY: `${key},c2hvcnQ` }],
  ['SMS_TOKEN', { SMS_URL: 'https://sms.example.com' }],
  ['BOOTSTRAP_CLIENT_SECRET', { BOOTSTRAP_CLIENT_ID: 'operator' }],
  ['BOOTSTRAP_CLIENT_SECRET', { BOOTSTRAP_CLIENT_ID: 'operator', BOOTSTRAP_CLIENT_SECRET: 'short' }],
  ['DEMO', { DEMO: 'yes' }],
  ['TRUST_PROXY', { TRUST_PROXY: '-1' }],
  ['WORKERS', { WORKERS: '0' }],
  ['LOG_LEVEL', { LOG_LEVEL: 'loud' }],
])('%s is refused by name when it is %o', (name, source) => {
  expect(faultsOf(source).map((fault) => fault.split(':', 1)[0])).toContain(name)
})

test('more than one worker needs a database and a Redis that they share', () => {
  expect(faultsOf({ WORKERS: '2' }).map((fault) => fault.split(':', 1)[0])).toEqual([
    'DATABASE_URL',
    'REDIS_URL',
  ])
})
