import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { type Env, parseEnv } from '../../src/core/env.ts'

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

function parse(source: Record<string, string>): Env {
  const result = parseEnv({ DATA_DIR: dataDir, ...source })
  if ('issues' in result) throw new Error(result.issues.join('\n'))
  return result.env
}
function parseIssues(source: Record<string, string>): string[] {
  const result = parseEnv({ DATA_DIR: dataDir, ...source })
  return 'issues' in result ? result.issues : []
}

describe('parseEnv in development', () => {
  test('has defaults: loopback, port 3000 and the demo tenant', () => {
    expect(parse({})).toMatchObject({
      isProduction: false,
      host: '127.0.0.1',
      port: 3000,
      baseUrl: 'http://localhost:3000',
      demo: true,
      workers: 1,
      trustProxy: 0,
    })
  })

  test('creates an encryption key once, in a file that other users cannot read', () => {
    const [first] = parse({}).encryptionKeys
    const [second] = parse({}).encryptionKeys
    expect(first).toHaveLength(32)
    expect(second).toEqual(first)
    expect(statSync(join(dataDir, 'encryption-key')).mode & 0o777).toBe(0o600)
    expect(readFileSync(join(dataDir, 'encryption-key'), 'utf8').trim()).toBe(first?.toString('base64url'))
  })

  test('treats an empty variable as unset', () => {
    expect(parse({ DATABASE_URL: '', PORT: '' })).toMatchObject({ port: 3000, databaseUrl: undefined })
  })
})

describe('PASSKEY_ORIGINS', () => {
  test('is a list of origins, each once', () => {
    const { passkeyOrigins } = parse({ PASSKEY_ORIGINS: 'https://app.example.com/, https://app.example.com' })
    expect(passkeyOrigins).toEqual(['https://app.example.com'])
    expect(parse({}).passkeyOrigins).toEqual([])
  })

  test.for(['https://app.example.com/path', 'app.example.com', 'https://a.example,', 'javascript:1'])(
    'rejects %s',
    (value) => {
      expect(parseIssues({ PASSKEY_ORIGINS: value })).toEqual([
        'PASSKEY_ORIGINS: each must be an origin without a path',
      ])
    },
  )

  test('must be https in production', () => {
    expect(parseIssues({ ...production, PASSKEY_ORIGINS: 'http://app.example.com' })).toEqual([
      'PASSKEY_ORIGINS: each must be https in production, except on this machine',
    ])
  })
})

describe('parseEnv in production', () => {
  test('listens on all interfaces and has no demo tenant', () => {
    expect(parse(production)).toMatchObject({ isProduction: true, host: '0.0.0.0', demo: false })
  })

  test.each(['http://id.example.com', 'http://10.0.0.7:3000', 'http://localhost.example.com'])(
    'rejects BASE_URL %s, which is neither https nor this machine',
    (BASE_URL) => {
      expect(parseIssues({ ...production, BASE_URL })).toEqual([
        'BASE_URL: must be https in production, except on this machine',
      ])
    },
  )

  test.each(['http://localhost:3000', 'http://127.0.0.1:3000', 'http://[::1]:3000'])(
    'accepts BASE_URL %s for a trial on this machine',
    (BASE_URL) => {
      expect(parse({ ...production, BASE_URL }).baseUrl).toBe(BASE_URL)
    },
  )

  test.each(['Vestibule', 'a@b, c@d', '<a@b', 'Vestibule <no reply@example.com>', 'A <a@b> c'])(
    'rejects MAIL_FROM %s',
    (MAIL_FROM) => {
      expect(parseIssues({ ...production, MAIL_FROM })).toEqual([
        'MAIL_FROM: must be an e-mail address, or a name and an address in angle brackets',
      ])
    },
  )

  test('reads MAIL_DOMAINS in lower case, each once', () => {
    expect(parse(production).mailDomains).toEqual([])
    expect(
      parse({ ...production, MAIL_DOMAINS: 'Acme.example, mail.example,acme.example' }).mailDomains,
    ).toEqual(['acme.example', 'mail.example'])
  })

  test.each(['@acme.example', 'bücher.example', 'acme.example,', '*.acme.example', '10.0.0.1'])(
    'rejects MAIL_DOMAINS %s',
    (MAIL_DOMAINS) => {
      expect(parseIssues({ ...production, MAIL_DOMAINS })).toEqual([
        'MAIL_DOMAINS: each must be a domain in ASCII, such as example.com',
      ])
    },
  )

  test('reports all missing variables', () => {
    expect(parseIssues({ NODE_ENV: 'production' }).map((issue) => issue.split(':', 1)[0])).toEqual([
      'BASE_URL',
      'DATABASE_URL',
      'ENCRYPTION_KEY',
      'SMTP_URL',
    ])
  })

  test('reports invalid and missing variables together', () => {
    const issues = parseIssues({
      NODE_ENV: 'production',
      PORT: '99999',
      BASE_URL: 'https://id.example.com/path',
    })
    expect(issues.map((issue) => issue.split(':', 1)[0]).sort()).toEqual([
      'BASE_URL',
      'DATABASE_URL',
      'ENCRYPTION_KEY',
      'PORT',
      'SMTP_URL',
    ])
  })
})

describe('an environment variable', () => {
  test.each([
    ['PORT', { PORT: 'http' }],
    ['BASE_URL', { BASE_URL: 'ftp://id.example.com' }],
    ['BASE_URL', { BASE_URL: 'not a URL' }],
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
    ['NODE_ENV', { NODE_ENV: 'prod' }],
    ['METRICS_PORT', { METRICS_PORT: '3000' }],
    ['METRICS_PORT', { METRICS_PORT: '4000', PORT: '4000' }],
    ['MANAGEMENT_PORT', { MANAGEMENT_PORT: '4000', METRICS_PORT: '4000' }],
    ['REDIS_PREFIX', { REDIS_PREFIX: 'a:b' }],
  ])('%s is reported with its name and a sentence for %o', (name, source) => {
    const issues = parseIssues(source).filter((issue) => issue.startsWith(`${name}: `))
    expect(issues).toEqual([expect.stringMatching(/: .*\b(must|is required)\b/)])
  })

  test('WORKERS above 1 requires DATABASE_URL and REDIS_URL', () => {
    expect(parseIssues({ WORKERS: '2' }).map((issue) => issue.split(':', 1)[0])).toEqual([
      'DATABASE_URL',
      'REDIS_URL',
    ])
  })
})
