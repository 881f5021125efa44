import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, vi } from 'vitest'
import { runChecks } from '../../src/cli/doctor/run-checks.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { openRedis } from '../../src/coordination/redis.ts'
import { env } from '../../src/core/env.ts'
import { createReportToken } from '../../src/server/request-report.routes.ts'
import { createWebhook } from '../../src/webhooks/webhooks.ts'
import { EXPIRED_CERTIFICATE, TEST_CA, TEST_KEY, VALID_CERTIFICATE } from '../support/certificates.ts'
import { runNode } from '../support/cli.ts'
import { withConnection } from '../support/databases.ts'
import { closers } from '../support/environment.ts'
import { type FaultyProxy, type ProxyFault, startFaultyProxy } from '../support/faulty-proxy.ts'
import { test as base } from '../support/fixtures.ts'
import { GATEWAY_TOKEN } from '../support/message-servers.ts'
import { freePort } from '../support/process.ts'

await vi.hoisted(async () => {
  process.env.TRUST_PROXY = '1'
  const { startMessageServers } = await import('../support/message-servers.ts')
  await startMessageServers()
})

/** Sends statements to the database of this file, or to its server. */
const sql = (text: string, url = env.databaseUrl as string) =>
  withConnection(url, async (client) => (await client.query(text)).rows)

/** The fault that only a user who creates roles can plant. */
const NEEDS_ROLE = 'a user without a free connection'

type Scene = { proxy: FaultyProxy; tenant: string; startSecure: (cert: string) => Promise<FaultyProxy> }
/** What makes the fault: other variables, or a change that `undo` takes back. */
type Plant = (scene: Scene) => Promise<{ variables?: object; undo?: () => unknown }>

const withUrl = (url: string | undefined, change: (url: URL) => void): string => {
  const changed = new URL(url as string)
  change(changed)
  return changed.href
}
const switchFault =
  (fault: ProxyFault): Plant =>
  async ({ proxy }) => {
    proxy.fault = fault
    return { undo: () => (proxy.fault = null) }
  }
const alter =
  (change: string, back: string): Plant =>
  async () => {
    await sql(change)
    return { undo: () => sql(back) }
  }
const setRedis = async (policy: string) => {
  const redis = await openRedis(env.redisUrl as string, 'test')
  await vi.waitUntil(() => redis.status === 'ready')
  await redis.config('SET', 'maxmemory-policy', policy)
  redis.disconnect()
}
const ROLE = `doctor_${process.pid}`

const FAULTS: [fault: string, check: string, found: RegExp, plant: Plant][] = [
  [
    'a database that does not accept the user',
    'database',
    /does not accept the user/,
    async () => ({
      variables: {
        databaseUrl: withUrl(env.databaseUrl, (url) =>
          Object.assign(url, { username: 'nobody', password: 'wrong' }),
        ),
      },
    }),
  ],
  [
    'a database that is down',
    'database',
    /does not answer: ECONNREFUSED/,
    async () => ({ variables: { databaseUrl: `postgresql://u:p@127.0.0.1:${await freePort()}/x` } }),
  ],
  [
    NEEDS_ROLE,
    'database.connections',
    /no connection is free/,
    async () => {
      await sql(`CREATE ROLE ${ROLE} LOGIN PASSWORD 'doctor' CONNECTION LIMIT 0`)
      const databaseUrl = withUrl(env.databaseUrl, (url) =>
        Object.assign(url, { username: ROLE, password: 'doctor' }),
      )
      return { variables: { databaseUrl }, undo: () => sql(`DROP ROLE ${ROLE}`) }
    },
  ],
  [
    'more connections than the database allows',
    'database.connections',
    /10400 needed by 8 processes/,
    async () => ({ variables: { databaseConnections: 1000, workers: 8 } }),
  ],
  [
    'pending migrations',
    'database.migrations',
    /^1 pending, from \d+/,
    alter(
      `UPDATE "_prisma_migrations" SET rolled_back_at = now() WHERE migration_name = (SELECT max(migration_name) FROM "_prisma_migrations")`,
      `UPDATE "_prisma_migrations" SET rolled_back_at = NULL`,
    ),
  ],
  [
    'migrations of a newer version',
    'database.migrations',
    /1 of a newer version, from 2999_later/,
    alter(
      `INSERT INTO "_prisma_migrations" (id, checksum, migration_name, finished_at) VALUES ('later', '', '2999_later', now())`,
      `DELETE FROM "_prisma_migrations" WHERE id = 'later'`,
    ),
  ],
  [
    'fsync off',
    'database.durability',
    /^fsync.* off/,
    async () => {
      const read = () => sql('SHOW fsync').then(([row]) => row.fsync)
      if ((await read()) === 'off') return {}
      const set = async (change: string, state: string) => {
        await sql(change)
        await sql('SELECT pg_reload_conf()')
        await vi.waitUntil(async () => (await read()) === state)
      }
      await set('ALTER SYSTEM SET fsync = off', 'off')
      return { undo: () => set('ALTER SYSTEM RESET fsync', 'on') }
    },
  ],
  [
    'clocks that differ',
    'database.clock',
    /^\d{5} ms behind this machine/,
    async () => {
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 })
      return { undo: () => vi.useRealTimers() }
    },
  ],
  [
    'Redis down',
    'redis',
    /does not answer: .*ECONNREFUSED/,
    async () => ({ variables: { redisUrl: `redis://127.0.0.1:${await freePort()}` } }),
  ],
  [
    'a Redis that evicts',
    'redis.eviction',
    /^allkeys-lru/,
    async () => {
      await setRedis('allkeys-lru')
      return { undo: () => setRedis('noeviction') }
    },
  ],
  [
    'a mail server that is down',
    'smtp',
    /does not answer: ESOCKET|ECONNECTION/,
    async () => ({ variables: { smtpUrl: `smtp://u:p@127.0.0.1:${await freePort()}` } }),
  ],
  [
    'a mail server that does not accept the user',
    'smtp',
    /does not accept the user: EAUTH 535/,
    async () => ({ variables: { smtpUrl: env.smtpUrl?.replace('secret', 'wrong') } }),
  ],
  [
    'a gateway for text messages that is down',
    'sms',
    /ECONNREFUSED/,
    async () => ({ variables: { sms: { url: `http://127.0.0.1:${await freePort()}`, token: 'x' } } }),
  ],
  [
    'a host that does not resolve',
    'dns',
    /^id\.nothing\.invalid does not resolve/,
    async () => ({ variables: { baseUrl: 'http://id.nothing.invalid' } }),
  ],
  [
    'an expired certificate',
    'tls.expiry',
    /^expired on Feb {2}1/,
    async ({ startSecure }) => ({
      variables: { baseUrl: (await startSecure(EXPIRED_CERTIFICATE)).secureOrigin },
    }),
  ],
  [
    'a BASE_URL that leads elsewhere',
    'proxy',
    /health\/request is answered with 200/,
    async () => {
      const other = createServer((_request, response) => response.end('hello')).listen(0, '127.0.0.1')
      await once(other, 'listening')
      const { port } = other.address() as AddressInfo
      return { variables: { baseUrl: `http://127.0.0.1:${port}` }, undo: () => other.close() }
    },
  ],
  [
    'a proxy without X-Forwarded-Proto',
    'proxy.scheme',
    /X-Forwarded-Proto is missing/,
    switchFault('no-proto'),
  ],
  ['a proxy without X-Forwarded-For', 'proxy.address', /from 0 forwarded/, switchFault('no-address')],
  ['a proxy with another Host', 'proxy.host', /Host is backend\.internal/, switchFault('other-host')],
  [
    'a proxy without WebSockets',
    'proxy.websocket',
    /the upgrade is answered with 400/,
    switchFault('no-upgrade'),
  ],
  ['a proxy that buffers', 'proxy.stream', /the proxy buffers/, switchFault('buffers')],
  ['a proxy without compression', 'proxy.compression', /uncompressed/, switchFault('no-compression')],
  [
    'a key that is not replaced',
    'keys',
    /signs for 100 days \(tenant system\)/,
    alter(
      `UPDATE "SigningKey" SET "activeAt" = now() - interval '100 days' WHERE "tenantId" = 'system'`,
      `UPDATE "SigningKey" SET "activeAt" = now() WHERE "tenantId" = 'system'`,
    ),
  ],
  [
    'a queue that nobody reads',
    'queues.jobs',
    /^1 bulk job, the oldest due for 2 hours/,
    alter(
      `INSERT INTO "BulkJob" ("tenantId", "id", "action", "caller", "status", "total", "createdAt")
       VALUES ('system', 'stuck', 'lock', '{}', 'running', 1, now() - interval '2 hours')`,
      `DELETE FROM "BulkJob"`,
    ),
  ],
  [
    'a webhook that is disabled',
    'consumers',
    /\/webhook_\w+ disabled/,
    async ({ tenant }) => {
      const { webhook } = await createWebhook(createPlatformCtx(tenant), {
        url: 'https://hooks.example/x',
        enabled: false,
      })
      return { undo: () => sql(`DELETE FROM "Webhook" WHERE "id" = '${webhook.id}'`) }
    },
  ],
]

/** What follows from the fault too: nothing behind it can be asked. */
const FOLLOWS: Record<string, string[]> = { dns: ['proxy'], 'tls.expiry': ['tls.chain', 'proxy'] }
const SECRETS = [GATEWAY_TOKEN, 'secret@', ':secret', ':wrong', process.env.ENCRYPTION_KEY as string]

const test = base
  .extend('startSecure', { scope: 'file' }, ({ app }) => async (cert: string) => {
    const started = await startFaultyProxy(app.origin, { key: TEST_KEY, cert })
    closers.push(async () => started.close())
    return started
  })
  .extend('proxy', { scope: 'file' }, ({ startSecure }) => startSecure(VALID_CERTIFICATE))
  .extend('examine', { scope: 'file' }, ({ proxy }) => async (variables: object = {}) => {
    const start = performance.now()
    const findings = await runChecks({ ...env, baseUrl: proxy.origin, ...variables })
    expect(performance.now() - start).toBeLessThan(6000)
    for (const secret of SECRETS) expect(JSON.stringify(findings)).not.toContain(secret)
    // A busy machine is slow.
    return findings.filter(({ state, check }) => state !== 'ok' && !check.endsWith('.latency'))
  })

describe('vestibule doctor', () => {
  test('names each planted defect with what to do, and nothing else', async ({
    examine,
    proxy,
    startSecure,
    tenant,
  }) => {
    const [user] = await sql(
      'SELECT rolcreaterole OR rolsuper AS "createsRoles" FROM pg_roles WHERE rolname = current_user',
    )
    const base = (await examine()).map(({ check }) => check)
    expect(base.filter((check) => check !== 'database.durability')).toEqual([])
    for (const [fault, check, found, plant] of FAULTS) {
      if (fault === NEEDS_ROLE && !user?.createsRoles) continue
      const { variables, undo } = await plant({ proxy, tenant, startSecure })
      const findings = await examine(variables).finally(undo)
      const expected = [...base, check, ...(FOLLOWS[check] ?? [])]
      expect([fault, findings.filter((finding) => !expected.includes(finding.check))]).toEqual([fault, []])
      expect([fault, findings]).toEqual([
        fault,
        expect.arrayContaining([
          expect.objectContaining({
            check,
            found: expect.stringMatching(found),
            action: expect.stringMatching(/\.$/),
          }),
        ]),
      ])
    }
  }, 120_000)

  test('names invalid variables, trusts a certificate, and exits with 1', async ({ proxy }) => {
    const ca = join(process.env.DATA_DIR as string, 'ca.pem')
    writeFileSync(ca, TEST_CA)
    const { code, stdout } = await runNode(['dist/cli.js', 'doctor', '--json'], {
      BASE_URL: proxy.secureOrigin,
      NODE_EXTRA_CA_CERTS: ca,
      WORKERS: 'two',
      LOG_LEVL: 'debug',
    })
    const { healthy, findings } = JSON.parse(stdout)
    expect([code, healthy]).toEqual([1, false])
    expect(findings).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ state: 'failure', found: 'WORKERS: must be a whole number' }),
        expect.objectContaining({ state: 'warning', found: expect.stringContaining('LOG_LEVEL is') }),
        expect.objectContaining({ check: 'tls.chain', state: 'ok' }),
        expect.objectContaining({ check: 'proxy.websocket', state: 'ok' }),
      ]),
    )
  })

  test('has a report of requests that only ENCRYPTION_KEY opens, for two minutes', async ({ app }) => {
    const read = async (token: string) =>
      (await fetch(`${app.origin}/health/request`, { headers: { authorization: `Bearer ${token}` } })).status
    const [time, mac = ''] = createReportToken().split('.')
    const tokens = [
      '',
      `${Number(time) + 1}.${mac}`,
      `${time}.${'A'.repeat(43)}`,
      createReportToken(Date.now() - 121_000),
    ]
    for (const token of tokens) expect([token, await read(token)]).toEqual([token, 404])
    expect(await read(createReportToken())).toBe(200)
  })
})
