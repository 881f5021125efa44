import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { findClient } from '../../src/access/client-cache.ts'
import { listDeclaredResources } from '../../src/access/declared-resources.ts'
import { findTenant, invalidateTenant } from '../../src/access/tenant-cache.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { SYSTEM_TENANT } from '../../src/core/scopes.ts'
import { Handle } from '../../src/database/handle.ts'
import { invalidateKeys, listPublicKeys } from '../../src/keys/keys.ts'
import { deleteTenant } from '../../src/tenants/tenants.ts'
import { databaseUrl } from '../support/connections.ts'
import { inTransaction, sql } from '../support/database.ts'
import { withConnection } from '../support/databases.ts'
import { hasServices } from '../support/services.ts'
import { recordStatements } from '../support/statements.ts'
import { test as base } from '../support/tenant-per-test.ts'

const test = base
  /** The changes that `work` records of the tenant, as the cache and the key. */
  .extend('recordedBy', ({ tenant }) => async (work: () => Promise<unknown>): Promise<string[]> => {
    await sql('DELETE FROM "RowChange" WHERE "tenantId" = $1', [tenant])
    await work()
    const rows = await sql<{ cache: string; key: string }>(
      'SELECT "cache", "key" FROM "RowChange" WHERE "tenantId" = $1 ORDER BY "id"',
      [tenant],
    )
    return [...new Set(rows.map(({ cache, key }) => (key ? `${cache} ${key}` : cache)))].sort()
  })

describe.runIf(hasServices)('changes of cached rows', () => {
  test('are recorded for clients and their secrets', async ({ tenant, rest, recordedBy }) => {
    let id = ''
    const ofClient = () => [`client ${id}`, 'declared-resources']
    const created = await recordedBy(async () => {
      const { body } = await rest('POST', '/clients', {
        name: 'Backend',
        type: 'login',
        appType: 'machine',
        scopes: ['users:read'],
      })
      id = String((body as { id: string }).id)
    })
    expect(created).toEqual(ofClient())
    expect(await recordedBy(() => rest('PATCH', `/clients/${id}`, { name: 'Other' }))).toEqual(ofClient())
    expect(await recordedBy(() => rest('POST', `/clients/${id}/secret`))).toContain(`client ${id}`)
    const secrets = 'FROM "ClientSecret" WHERE "tenantId" = $1 AND "clientId" = $2'
    expect(await recordedBy(() => sql(`DELETE ${secrets}`, [tenant, id]))).toEqual([`client ${id}`])
    expect(await recordedBy(() => rest('DELETE', `/clients/${id}`))).toEqual(ofClient())
  })

  test('are recorded for both keys when a row gets another one', async ({ tenant, create, recordedBy }) => {
    const make = async () =>
      String((await create('/clients', { name: 'Backend', type: 'login', appType: 'machine' })).id)
    const [one, other] = [await make(), await make()]
    const move = () =>
      sql('UPDATE "ClientSecret" SET "clientId" = $3 WHERE "tenantId" = $1 AND "clientId" = $2', [
        tenant,
        one,
        other,
      ])
    expect(await recordedBy(move)).toEqual([`client ${one}`, `client ${other}`].sort())
  })

  test('are recorded for settings, identity providers and keys', async ({ tenant, recordedBy }) => {
    const update = (table: string, column: string, value: string) => () =>
      sql(`UPDATE "${table}" SET "${column}" = ${value} WHERE "tenantId" = $1`, [tenant])
    expect(await recordedBy(update('Tenant', 'friendlyName', `'Other'`))).toEqual(['tenant'])
    expect(await recordedBy(update('SigningKey', 'expiresAt', 'now()'))).toEqual(['keys'])
    const insertIdp = () =>
      sql(
        `INSERT INTO "IdentityProvider" ("tenantId", "id", "type", "name") VALUES ($1, 'google', 'google', 'Google')`,
        [tenant],
      )
    expect(await recordedBy(insertIdp)).toEqual(['tenant'])
    expect(await recordedBy(update('IdentityProvider', 'name', `'Other'`))).toEqual(['tenant'])
    expect(
      await recordedBy(() => sql('DELETE FROM "IdentityProvider" WHERE "tenantId" = $1', [tenant])),
    ).toEqual(['tenant'])
  })

  test('are recorded once a statement when a tenant is deleted', async ({ tenant, create, recordedBy }) => {
    for (let n = 0; n < 3; n++)
      await create('/clients', { name: `Client ${n}`, type: 'login', appType: 'machine' })
    const [{ clients } = { clients: 0 }] = await sql<{ clients: number }>(
      'SELECT count(*)::int AS "clients" FROM "Client" WHERE "tenantId" = $1',
      [tenant],
    )
    const deleted = await recordedBy(() => deleteTenant(createPlatformCtx(SYSTEM_TENANT), tenant))
    expect(deleted.filter((change) => change.startsWith('client '))).toHaveLength(clients)
    expect(deleted).toEqual(expect.arrayContaining(['declared-resources', 'keys', 'tenant']))
  })

  test('are recorded for every table that a cache reads', async ({ tenant, create }) => {
    const client = await create('/clients', { name: 'Backend', type: 'login', appType: 'machine' })
    // This process has cached the tenant and its keys already.
    invalidateTenant(new Handle({ tenant }))
    invalidateKeys(new Handle({ tenant }))
    const read = {
      tenant: () => findTenant(tenant),
      client: () => findClient(tenant, String(client.id)),
      keys: () => listPublicKeys(tenant),
      'declared-resources': () => listDeclaredResources(tenant),
    }
    const { rows: triggers } = await withConnection(databaseUrl(), (client) =>
      client.query<{ table: string; cache: string; events: number }>(
        `SELECT tgrelid::regclass::text AS "table", split_part(encode(tgargs, 'escape'), '\\000', 1) AS "cache", count(*)::int AS "events"
         FROM pg_trigger WHERE tgfoid = 'record_row_changes'::regproc GROUP BY 1, 2`,
      ),
    )
    const watched = triggers
      .filter(({ events }) => events === 3)
      .map(({ table, cache }) => `${cache}: ${table}`)
    const found: string[] = []
    for (const [cache, load] of Object.entries(read)) {
      const tables = new Set(
        (await recordStatements(load)).flatMap((text) =>
          [...text.matchAll(/(?:FROM|JOIN) ("\w+")/g)].map(([, table]) => table),
        ),
      )
      found.push(...[...tables].map((table) => `${cache}: ${table}`))
    }
    expect(watched.sort()).toEqual(found.sort())
  })

  test('are seen within a second while many transactions of different lengths commit', async ({ tenant }) => {
    const commits: { value: number; at: number }[] = []
    const deadline = performance.now() + 5000
    let value = 0
    const write = async () => {
      while (performance.now() < deadline) {
        const written = await inTransaction(async (tx) => {
          // The row is locked until the commit, so that values are committed in their order.
          await tx('SELECT FROM "Tenant" WHERE "tenantId" = $1 FOR UPDATE', [tenant])
          value += 1
          const own = value
          await tx('UPDATE "Tenant" SET "friendlyName" = $2 WHERE "tenantId" = $1', [tenant, String(own)])
          await sleep(Math.random() * 40)
          return own
        })
        commits.push({ value: written, at: performance.now() })
        await sleep(Math.random() * 300)
      }
    }
    const open = async () => {
      while (performance.now() < deadline)
        await inTransaction(async (tx) => {
          await tx(`INSERT INTO "RowChange" ("tenantId", "cache", "key") VALUES ($1, 'none', '')`, [tenant])
          await sleep(Math.random() * 1500)
        })
    }
    let reads = 0
    let latest = 0
    const readAll = async () => {
      while (performance.now() < deadline) {
        const asOf = performance.now() - 1000
        const expected = Math.max(0, ...commits.filter(({ at }) => at < asOf).map((commit) => commit.value))
        const found = Number((await findTenant(tenant))?.friendlyName ?? 0)
        expect(found).toBeGreaterThanOrEqual(expected)
        latest = Math.max(latest, found)
        reads += 1
        await sleep(1)
      }
    }
    await Promise.all([write(), write(), open(), open(), readAll(), readAll()])
    expect(latest).toBeGreaterThan(5)
    expect(reads).toBeGreaterThan(500)
  })
})
