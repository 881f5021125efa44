import type pg from 'pg'
import { describe, expect } from 'vitest'
import { CLIENT_FIELDS } from '../../src/clients/clients.fields.ts'
import { IDP_FIELDS } from '../../src/idps/idps.fields.ts'
import { addStandards, type Fields } from '../../src/schema/fields.ts'
import { TENANT_SETTINGS } from '../../src/tenants/tenants.fields.ts'
import { withConnection } from '../support/databases.ts'
import { test } from '../support/fixtures.ts'

type Table = {
  model: string
  fields: Fields
  /** Columns that have no default, in a row that is inserted. */
  required: Record<string, string>
}
const TABLES: Record<string, Table> = {
  'the settings of a tenant': {
    model: 'Tenant',
    fields: TENANT_SETTINGS,
    required: { tenantId: 'defaults', tokenKey: '' },
  },
  'the fields of a client': {
    model: 'Client',
    fields: CLIENT_FIELDS,
    required: { tenantId: 'defaults', id: 'client', type: 'login', name: 'Shop', appType: 'web' },
  },
  'the fields of an identity provider': {
    model: 'IdentityProvider',
    fields: IDP_FIELDS,
    required: { tenantId: 'defaults', id: 'partner', type: 'oidc', name: 'Partner' },
  },
}

/** A row with the default values of its columns. */
const insertDefaults = ({ model, required }: Table): Promise<Record<string, unknown>> =>
  withConnection(process.env.DATABASE_URL ?? '', async (client: pg.Client) => {
    const names = Object.keys(required)
    await client.query('BEGIN')
    if (model !== 'Tenant')
      await client.query(`INSERT INTO "Tenant" ("tenantId", "tokenKey") VALUES ('defaults', '')`)
    const { rows } = await client.query(
      `INSERT INTO "${model}" (${names.map((name) => `"${name}"`)}) VALUES (${names.map((_, index) => `$${index + 1}`)}) RETURNING *`,
      Object.values(required),
    )
    await client.query('ROLLBACK')
    return rows[0]
  })

describe('the table of', () => {
  test.for(Object.entries(TABLES))(
    '%s has the columns of its names, whose defaults are the standard values',
    async ([, table], { app: _ }) => {
      const stored = await insertDefaults(table)
      const optional = Object.keys(table.fields).filter((name) => !(name in table.required))
      const standards = addStandards(table.fields)
      expect(optional.map((name) => [name, stored[name]])).toEqual(
        optional.map((name) => [name, standards[name]]),
      )
    },
  )
})
