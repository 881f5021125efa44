import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { describe, expect } from 'vitest'
import { findClient, isCurrentClientSecret } from '../../src/access/client-cache.ts'
import { findTenant } from '../../src/access/tenant-cache.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { ROLES, SCOPE_NAMES, SYSTEM_TENANT } from '../../src/core/scopes.ts'
import { resolveDataFile } from '../../src/dev/data-files.ts'
import { type BootstrapReport, bootstrap } from '../../src/server/bootstrap.ts'
import { getUserByEmail, updateUser } from '../../src/users/users.ts'
import { dbFor, sql } from '../support/database.ts'
import { logOf } from '../support/events.ts'
import { test as base, openApp } from '../support/fixtures.ts'

/** With the reports of eight concurrent starts. */
const test = base.extend('reports', { scope: 'file' }, async (): Promise<BootstrapReport[]> => {
  await openApp()
  return Promise.all(Array.from({ length: 8 }, () => bootstrap()))
})

describe('eight concurrent starts', () => {
  test('return the same report', ({ reports }) => {
    for (const report of reports) expect(report).toEqual(reports[0])
  })

  test('create each tenant, key, client, secret and user once, and record one event for each', async ({
    reports: _,
  }) => {
    const clients = { system: 1, demo: 3 }
    for (const tenantId of ['system', 'demo'] as const) {
      const where = { tenantId }
      const db = dbFor(tenantId)
      expect(await findTenant(tenantId)).not.toBeNull()
      expect(await db.signingKey.count({ where })).toBe(1)
      expect(await db.client.count({ where })).toBe(clients[tenantId])
      const recorded = (await logOf(tenantId)).map(({ type }) => type)
      expect(recorded.filter((type) => type === 'tenant.created')).toHaveLength(1)
      expect(recorded.filter((type) => type.startsWith('client.'))).toEqual(
        Array(clients[tenantId]).fill('client.created'),
      )
    }
    expect(await dbFor('system').clientSecret.count({ where: { tenantId: 'system' } })).toBe(1)
    expect(await dbFor('demo').clientSecret.count({ where: { tenantId: 'demo' } })).toBe(2)
    expect(await dbFor('demo').user.count({ where: { tenantId: 'demo' } })).toBe(4)
  })
})

describe('a first start', () => {
  test('creates the operator with every scope in every tenant, and writes its secret to a file of mode 0600', async ({
    reports,
  }) => {
    const [report] = reports
    const operator = report?.operator
    const client = await findClient(SYSTEM_TENANT, operator?.clientId ?? '')
    expect(client).toMatchObject({ appType: 'machine', scopes: [...SCOPE_NAMES], allTenants: true })
    expect(client && isCurrentClientSecret(client, operator?.clientSecret ?? '')).toBe(true)
    expect(Buffer.from(operator?.clientSecret ?? '', 'base64url')).toHaveLength(32)
    expect(report?.operatorFile).toBe(resolveDataFile('operator.json'))
    expect(statSync(resolveDataFile('operator.json')).mode & 0o777).toBe(0o600)
    expect(JSON.parse(readFileSync(resolveDataFile('operator.json'), 'utf8'))).toEqual({
      tenant: 'system',
      clientId: operator?.clientId,
      clientSecret: operator?.clientSecret,
    })
  })

  test('creates a demo tenant with an administrator and three clients', async ({ reports }) => {
    const demo = reports[0]?.demo
    expect(demo).toMatchObject({ tenant: 'demo', admin: 'admin@demo.example' })
    expect(demo?.clients.map(({ name, appType }) => [name, appType])).toEqual([
      ['Demo web app', 'web'],
      ['Demo native app', 'native'],
      ['Demo backend', 'machine'],
    ])
    for (const { clientId, clientSecret, appType } of demo?.clients ?? []) {
      const client = await findClient('demo', clientId)
      expect(client).toMatchObject({ appType, allTenants: false, scopes: [...ROLES.admin] })
      expect(clientSecret === null).toBe(appType === 'native')
      if (clientSecret) expect(client && isCurrentClientSecret(client, clientSecret)).toBe(true)
    }
    const admin = await getUserByEmail(createPlatformCtx('demo'), 'admin@demo.example')
    expect(admin).toMatchObject({ roles: ['admin'], emailVerified: true, locked: false })
    expect(statSync(resolveDataFile('demo.json')).mode & 0o777).toBe(0o600)
    expect(Object.keys(JSON.parse(readFileSync(resolveDataFile('demo.json'), 'utf8')).clients)).toEqual([
      'web',
      'native',
      'backend',
    ])
  })
})

describe('a further start', () => {
  test('writes nothing and returns the same report', async ({ reports }) => {
    const before = await Promise.all(['system', 'demo'].map(logOf))
    expect(await bootstrap()).toEqual(reports[0])
    expect(await Promise.all(['system', 'demo'].map(logOf))).toEqual(before)
  })

  test('returns the same secrets when the data directory is empty', async ({ reports }) => {
    for (const name of ['operator.json', 'demo.json']) rmSync(resolveDataFile(name))
    expect(await bootstrap()).toEqual(reports[0])
    expect(existsSync(resolveDataFile('operator.json'))).toBe(true)
  })

  test('keeps changes of users, and restores a changed client of the demo', async ({ reports }) => {
    const ctx = createPlatformCtx('demo')
    const ada = await getUserByEmail(ctx, 'ada@demo.example')
    await updateUser(ctx, ada.id, { name: 'Ada King' })
    const clientId = reports[0]?.demo?.clients[0]?.clientId ?? ''
    await sql('UPDATE "Client" SET "callbacks" = $3 WHERE "tenantId" = $1 AND "id" = $2', [
      'demo',
      clientId,
      [],
    ])
    await bootstrap()
    expect(await getUserByEmail(ctx, 'ada@demo.example')).toMatchObject({ name: 'Ada King' })
    expect((await findClient('demo', clientId))?.callbacks).toContain(
      'http://localhost:3000/dev/client/callback',
    )
  })

  test('names a file that it cannot read, and creates no other secret', async ({ reports: _ }) => {
    const kept = readFileSync(resolveDataFile('operator.json'), 'utf8')
    writeFileSync(resolveDataFile('operator.json'), kept.slice(0, 20))
    await expect(bootstrap()).rejects.toThrow('operator.json cannot be read; correct or delete it')
    writeFileSync(resolveDataFile('operator.json'), kept)
  })
})
