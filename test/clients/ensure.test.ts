import { describe, expect } from 'vitest'
import { findClient, isCurrentClientSecret } from '../../src/access/client-cache.ts'
import { ensureClient } from '../../src/clients/ensure-client.ts'
import { randomToken } from '../../src/core/crypto.ts'
import { SYSTEM_TENANT } from '../../src/core/scopes.ts'
import { dbFor, sql } from '../support/database.ts'
import { test } from '../support/fixtures.ts'

describe('ensureClient', () => {
  const id = 'ensured-operator'

  test('creates it once for ten concurrent starts, and writes nothing afterwards', async ({ events }) => {
    const wanted = { id, name: 'Operator', appType: 'machine', scopes: ['users:read'], secret: randomToken() }
    await Promise.all(Array.from({ length: 10 }, () => ensureClient(SYSTEM_TENANT, wanted)))
    await ensureClient(SYSTEM_TENANT, wanted)
    const where = { tenantId: SYSTEM_TENANT, clientId: id }
    expect(await dbFor(SYSTEM_TENANT).clientSecret.count({ where })).toBe(1)
    const recorded = await events({ tenant: SYSTEM_TENANT, subjectId: id })
    expect(recorded.map(({ type }) => type)).toEqual(['client.created'])
    const found = await findClient(SYSTEM_TENANT, id)
    expect(found && isCurrentClientSecret(found, wanted.secret)).toBe(true)
  })

  test('restores what differs, and replaces the secret', async ({ tenant }) => {
    const before = randomToken()
    const after = randomToken()
    await ensureClient(tenant, {
      id,
      name: 'Demo',
      appType: 'web',
      callbacks: ['http://localhost:1/cb'],
      secret: before,
    })
    await findClient(tenant, id)
    await ensureClient(tenant, {
      id,
      name: 'Demo',
      appType: 'web',
      callbacks: ['http://localhost:2/cb'],
      secret: after,
    })
    const found = await findClient(tenant, id)
    expect(found).toMatchObject({ callbacks: ['http://localhost:2/cb'] })
    expect(found && [before, after].map((secret) => isCurrentClientSecret(found, secret))).toEqual([
      false,
      true,
    ])
    const rows = await sql<{ n: number }>(
      'SELECT count(*)::int AS n FROM "Client" WHERE "tenantId" = $1 AND "id" = $2',
      [tenant, id],
    )
    expect(rows).toEqual([{ n: 1 }])
  })
})
