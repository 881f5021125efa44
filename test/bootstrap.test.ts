import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type BootstrapReport, bootstrap } from '../src/bootstrap.ts'
import { findClient, isClientSecret } from '../src/clients/client-cache.ts'
import { platformCtx, ROLES, SCOPE_NAMES, SYSTEM_TENANT } from '../src/ctx.ts'
import { dbFor, sql } from '../src/db.ts'
import { keptFile } from '../src/dev/kept-files.ts'
import { closeRuntime, openRuntime } from '../src/runtime.ts'
import { findTenant } from '../src/tenants/tenant-cache.ts'
import { getUserByEmail, updateUser } from '../src/users/users.ts'
import { logOf } from './support/events.ts'

let reports: BootstrapReport[]
beforeAll(async () => {
  await openRuntime()
  reports = await Promise.all(Array.from({ length: 8 }, () => bootstrap()))
})
afterAll(closeRuntime)

describe('processes that start at once', () => {
  it('agree on everything', () => {
    for (const report of reports) expect(report).toEqual(reports[0])
  })

  it('make one of each: tenants, keys, clients, secrets, people, and their events', async () => {
    const clients = { system: 1, demo: 3 }
    for (const tenantId of ['system', 'demo'] as const) {
      const where = { tenantId }
      const db = dbFor(tenantId)
      expect(await findTenant(tenantId)).not.toBeNull()
      expect(await db.signingKey.count({ where })).toBe(1)
      expect(await db.client.count({ where })).toBe(clients[tenantId])
      const told = (await logOf(tenantId)).map(({ type }) => type)
      expect(told.filter((type) => type === 'tenant.created')).toHaveLength(1)
      expect(told.filter((type) => type.startsWith('client.'))).toEqual(
        Array(clients[tenantId]).fill('client.created'),
      )
    }
    expect(await dbFor('system').clientSecret.count({ where: { tenantId: 'system' } })).toBe(1)
    expect(await dbFor('demo').clientSecret.count({ where: { tenantId: 'demo' } })).toBe(2)
    expect(await dbFor('demo').user.count({ where: { tenantId: 'demo' } })).toBe(4)
  })
})

describe('what a start leaves', () => {
  it('is the operator, with every scope in every tenant, whose secret is in a file for this user only', async () => {
    const [report] = reports
    const operator = report?.operator
    const client = await findClient(SYSTEM_TENANT, operator?.clientId ?? '')
    expect(client).toMatchObject({ appType: 'machine', scopes: [...SCOPE_NAMES], allTenants: true })
    expect(client && isClientSecret(client, operator?.clientSecret ?? '')).toBe(true)
    expect(Buffer.from(operator?.clientSecret ?? '', 'base64url')).toHaveLength(32)
    expect(report?.operatorFile).toBe(keptFile('operator.json'))
    expect(statSync(keptFile('operator.json')).mode & 0o777).toBe(0o600)
    expect(JSON.parse(readFileSync(keptFile('operator.json'), 'utf8'))).toEqual({
      tenant: 'system',
      clientId: operator?.clientId,
      clientSecret: operator?.clientSecret,
    })
  })

  it('is a demo tenant with an administrator and three clients that work', async () => {
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
      if (clientSecret) expect(client && isClientSecret(client, clientSecret)).toBe(true)
    }
    const admin = await getUserByEmail(platformCtx('demo'), 'admin@demo.example')
    expect(admin).toMatchObject({ roles: ['admin'], emailVerified: true, locked: false })
    expect(statSync(keptFile('demo.json')).mode & 0o777).toBe(0o600)
    expect(Object.keys(JSON.parse(readFileSync(keptFile('demo.json'), 'utf8')).clients)).toEqual([
      'web',
      'native',
      'backend',
    ])
  })
})

describe('a further start', () => {
  it('writes nothing and reports the same', async () => {
    const before = await Promise.all(['system', 'demo'].map(logOf))
    expect(await bootstrap()).toEqual(reports[0])
    expect(await Promise.all(['system', 'demo'].map(logOf))).toEqual(before)
  })

  it('finds the same secrets when the data directory was emptied', async () => {
    for (const name of ['operator.json', 'demo.json']) rmSync(keptFile(name))
    expect(await bootstrap()).toEqual(reports[0])
    expect(existsSync(keptFile('operator.json'))).toBe(true)
  })

  it('keeps what people changed, and puts back a client of the demo that somebody spoiled', async () => {
    const ctx = platformCtx('demo')
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

  it('says which file it cannot read, instead of making another secret', async () => {
    const kept = readFileSync(keptFile('operator.json'), 'utf8')
    writeFileSync(keptFile('operator.json'), kept.slice(0, 20))
    await expect(bootstrap()).rejects.toThrow('operator.json cannot be read; mend or delete it')
    writeFileSync(keptFile('operator.json'), kept)
  })
})
