import { describe, expect, test } from 'vitest'
import { StartError } from '../../src/core/start-error.ts'
import { assertRoleSettings } from '../../src/database/settings.ts'
import { databaseUrl } from '../support/connections.ts'
import { withConnection } from '../support/databases.ts'

const EXPECTED = { timezone: 'UTC', statement_timeout: '10000' }

describe('the start behind a pooler', () => {
  test('fails with the statements that give the role its settings', async () => {
    const role = await withConnection(databaseUrl(), async (client) => {
      const { rows } = await client.query<{ role: string }>('SELECT quote_ident(current_user) AS "role"')
      return rows[0]?.role
    })
    const connection = { connectionString: databaseUrl(), options: '-c timezone=UTC -c statement_timeout=0' }
    const failure = await assertRoleSettings(connection, EXPECTED).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(StartError)
    expect((failure as Error).message).toMatch(
      new RegExp(`ALTER ROLE ${role} SET statement_timeout = '10000';$`),
    )
  })

  test('goes on when the role has them', async () => {
    const options = '-c timezone=UTC -c statement_timeout=10s'
    await expect(
      assertRoleSettings({ connectionString: databaseUrl(), options }, EXPECTED),
    ).resolves.toBeUndefined()
  })
})
