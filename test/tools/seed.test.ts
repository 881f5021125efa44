import { describe, expect, vi } from 'vitest'
import { listClients } from '../../src/clients/client-list.ts'
import { type Ctx, createPlatformCtx } from '../../src/context/context.ts'
import { listUsers } from '../../src/users/list/user-list.ts'
import { exportUsers } from '../../src/users/transfer/export.ts'
import { importUsers } from '../../src/users/transfer/import.ts'
import { seedTenant } from '../../tools/seed/tenant.ts'
import { runNode } from '../support/cli.ts'
import { test as base, openApp } from '../support/fixtures.ts'
import type { Json } from '../support/json.ts'
import { hasServices } from '../support/services.ts'
import { collect } from '../support/user-lines.ts'

vi.setConfig({ testTimeout: 120_000 })

const createSeedCtx = (tenant: string): Ctx => ({
  ...createPlatformCtx(tenant),
  scopes: new Set(['users:read_app_metadata']),
})
const runSeed = (args: string[], variables?: Record<string, string>) =>
  runNode(['--import', 'tsx', 'tools/seed.ts', ...args], variables)

/** With the context of a seeded tenant. */
const test = base.extend('seeded', { scope: 'file' }, async (): Promise<Ctx> => {
  await openApp()
  await seedTenant(
    { tenant: 'seeded', users: 1500, sessions: 500, clients: 5, randomSeed: 1, until: new Date() },
    { parallel: 2 },
  )
  return createSeedCtx('seeded')
})

describe.runIf(hasServices)('a seeded tenant', () => {
  test('is counted, searched, listed, exported and imported without a change', async ({ seeded }) => {
    const users = await collect(exportUsers(seeded))
    expect(users).toHaveLength(1500)
    expect(await (await listUsers(seeded, {})).countAll()).toBe(1500)
    const { familyName } = users.find(({ locale }) => locale === 'de-AT')
    const found = await listUsers(seeded, { filter: { search: familyName }, pageSize: 1000 })
    expect(found.rows.map((user) => user.familyName)).toContain(familyName)
    expect((await listClients(seeded, {})).rows).toHaveLength(5)
    const text = users.map((user) => `${JSON.stringify(user)}\n`).join('')
    async function* chunks() {
      yield Buffer.from(text)
    }
    expect((await collect(importUsers(seeded, chunks()))).at(-1)).toEqual({
      summary: { lastLine: 1500, created: 0, updated: 0, unchanged: 1500, failed: 0 },
    })
  })

  test('has locked users, phone numbers, names of several scripts and events of each kind', async ({
    events,
    seeded,
  }) => {
    const users = await collect(exportUsers(seeded))
    const share = (isSo: (user: Json) => unknown) => users.filter(isSo).length / users.length
    expect(share(({ locked }) => locked)).toBeGreaterThan(0)
    expect(share(({ locked }) => locked)).toBeLessThan(0.05)
    expect(share(({ phoneNumber }) => phoneNumber)).toBeGreaterThan(0.2)
    expect(share(({ email }) => email)).toBeLessThan(1)
    expect(share(({ name }) => /[^\p{Script=Latin}\p{Script=Common}]/u.test(name))).toBeGreaterThan(0.2)
    const recorded = new Set((await events({ tenant: seeded.tenant })).map(({ type }) => type))
    expect([...recorded]).toEqual(
      expect.arrayContaining(['user.created', 'session.started', 'session.ended']),
    )
  })

  test('cannot be seeded again', async ({ seeded }) => {
    await expect(
      seedTenant({
        tenant: seeded.tenant,
        users: 1,
        sessions: 0,
        clients: 0,
        randomSeed: 1,
        until: new Date(),
      }),
    ).rejects.toThrow('has 1500 users already')
  })
})

describe.runIf(hasServices)('npm run seed', () => {
  test('fills the tenant of --tenant', async ({ app: _ }) => {
    const run = await runSeed([
      '--users',
      '1200',
      '--tenant',
      'by-script',
      '--sessions',
      '0',
      '--clients',
      '0',
    ])
    expect(run).toMatchObject({ code: 0, stdout: expect.stringContaining('by-script has 1,200 users now') })
    expect(await (await listUsers(createSeedCtx('by-script'), {})).countAll()).toBe(1200)
  })

  test('rejects production without --force, and an invalid number', async () => {
    const production = {
      NODE_ENV: 'production',
      BASE_URL: 'https://id.example.com',
      DATABASE_URL: 'postgresql://user@127.0.0.1:1/nothing',
      SMTP_URL: 'smtp://127.0.0.1:1',
    }
    expect(await runSeed(['--users', '10'], production)).toEqual({
      code: 1,
      stdout: '',
      stderr: 'This writes generated users. In production it requires --force.\n',
    })
    expect(await runSeed(['--users', 'many'])).toMatchObject({
      code: 1,
      stderr: '--users must be a whole number.\n',
    })
  })
})
