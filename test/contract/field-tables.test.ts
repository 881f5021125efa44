import type pg from 'pg'
import { describe, expect } from 'vitest'
import { Prisma } from '../../src/generated/prisma/client.ts'
import { addStandards } from '../../src/schema/fields.ts'
import { TENANT_SETTINGS } from '../../src/tenants/tenants.fields.ts'
import { withConnection } from '../support/databases.ts'
import { test } from '../support/fixtures.ts'

describe('the settings of a tenant', () => {
  test('have the columns of their names, whose defaults are the standard values', async ({ app: _ }) => {
    const stored = await withConnection(process.env.DATABASE_URL ?? '', async (client: pg.Client) => {
      await client.query('BEGIN')
      const { rows } = await client.query(
        `INSERT INTO "Tenant" ("tenantId", "tokenKey") VALUES ('defaults', '') RETURNING *`,
      )
      await client.query('ROLLBACK')
      return rows[0]
    })
    const {
      tenantId: _id,
      tokenKey: _key,
      eventsTrimmedTo: _at,
      updatedAt: _u,
      createdAt: _c,
      ...defaults
    } = stored
    expect(defaults).toEqual(addStandards(TENANT_SETTINGS))
    expect(Object.keys(Prisma.TenantScalarFieldEnum)).toEqual(expect.arrayContaining(Object.keys(defaults)))
  })
})
