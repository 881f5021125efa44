import { describe, expect } from 'vitest'
import { type Db, Handle } from '../../src/database/handle.ts'
import { statement } from '../../src/database/statement.ts'
import { inTransaction } from '../support/database.ts'
import { test } from '../support/fixtures.ts'

const DECLARED = Array.from(
  { length: 10 },
  (_, number) =>
    statement({ returns: { hot: 'int' } })`
    SELECT ${number} AS "hot" FROM "Tenant" WHERE "tenantId" = :tenant`,
)

const PREPARED = statement({
  returns: { name: 'text', preparedAt: 'timestamptz', size: 'int' },
})`
  SELECT p."name", p."prepare_time" AS "preparedAt", length(p."statement") AS "size"
  FROM pg_prepared_statements p, "Tenant" t WHERE t."tenantId" = :tenant ORDER BY p."prepare_time"`

/** The statements that the server has prepared on the connection of a transaction. */
const listPrepared = (db: Db) => db.many(PREPARED)

const runDeclared = async (db: Db) => {
  for (const each of DECLARED) await db.run(each)
}
/** A text of its own for each selection of a list. */
const select = (number: number, padding = '') =>
  `SELECT "tenantId" AS "c${number}"${padding} FROM "Tenant" WHERE "tenantId" = $1`

const MAX_GENERATED = 200
const MAX_CHARACTERS = 400_000

describe('prepared statements', () => {
  test('of the program stay prepared on a connection after 5,000 selections of a caller', {
    timeout: 90_000,
  }, async ({ tenant }) => {
    await inTransaction(async (sql, tx) => {
      await runDeclared(tx.forTenant(tenant))
      const before = (await listPrepared(tx.forTenant(tenant))).filter(({ name }) => name.startsWith('v_'))
      for (let number = 0; number < 5000; number++) await sql(select(number), [tenant])
      await runDeclared(tx.forTenant(tenant))
      const after = await listPrepared(tx.forTenant(tenant))
      expect(before.length).toBeGreaterThan(DECLARED.length)
      expect(after.filter(({ name }) => name.startsWith('v_'))).toEqual(before)
      expect(after.filter(({ name }) => name.startsWith('g_'))).toHaveLength(MAX_GENERATED)
    })
  })

  test('of the program get names after as many selections as are named', async ({ tenant }) => {
    const late = statement({ returns: { late: 'int' } })`
      SELECT 1 AS "late" FROM "Tenant" WHERE "tenantId" = :tenant`
    await inTransaction(async (sql, tx) => {
      for (let number = 5000; number < 6100; number++) await sql(select(number), [tenant])
      const before = await listPrepared(tx.forTenant(tenant))
      await tx.forTenant(tenant).run(late)
      const names = before.map(({ name }) => name)
      const added = (await listPrepared(tx.forTenant(tenant))).filter(({ name }) => !names.includes(name))
      expect(added.map(({ name }) => name.slice(0, 2))).toEqual(['v_'])
    })
  })

  test('of selections stay prepared while they are used, and are read again after they were displaced', async ({
    tenant,
  }) => {
    await inTransaction(async (sql, tx) => {
      const used = select(10_000)
      const unused = select(10_001)
      expect(await sql(unused, [tenant])).toEqual([{ c10001: tenant }])
      for (let number = 10_002; number < 11_000; number++) {
        await sql(used, [tenant])
        await sql(select(number), [tenant])
      }
      const sizes = (await listPrepared(tx.forTenant(tenant))).map(({ size }) => size)
      expect(sizes.filter((size) => size === used.length)).not.toEqual([])
      for (let time = 0; time < 3; time++)
        expect([await sql(used, [tenant]), await sql(unused, [tenant])]).toEqual([
          [{ c10000: tenant }],
          [{ c10001: tenant }],
        ])
    })
  })

  test('of selections take a limited number of bytes, and a very long one has no name', async ({
    tenant,
  }) => {
    await inTransaction(async (sql, tx) => {
      const padding = `, '${'x'.repeat(10_000)}' AS "padding"`
      for (let number = 0; number < 100; number++) await sql(select(number, padding), [tenant])
      const generated = (await listPrepared(tx.forTenant(tenant))).filter(({ name }) => name.startsWith('g_'))
      expect(generated.reduce((sum, { size }) => sum + size, 0)).toBeLessThanOrEqual(MAX_CHARACTERS)
      expect(generated.length).toBeGreaterThan(10)
      const before = await listPrepared(tx.forTenant(tenant))
      await sql(select(0, padding.repeat(3).replaceAll('"padding"', '"p"')), [tenant])
      expect(await listPrepared(tx.forTenant(tenant))).toEqual(before)
    })
  })

  test('of Prisma are displaced in the same way', async ({ tenant }) => {
    const columns = [
      'id',
      'email',
      'name',
      'nickname',
      'givenName',
      'familyName',
      'locale',
      'zoneinfo',
      'website',
    ]
    await new Handle({ tenant }).transaction(async (tx) => {
      await runDeclared(tx)
      const before = (await listPrepared(tx)).filter(({ name }) => name.startsWith('v_'))
      for (let bits = 1; bits < 2 ** columns.length; bits++)
        await tx.prisma.user.findMany({
          where: { tenantId: tenant },
          select: Object.fromEntries(columns.map((column, index) => [column, ((bits >> index) & 1) === 1])),
        })
      const after = await listPrepared(tx)
      expect(before.length).toBeGreaterThanOrEqual(DECLARED.length)
      expect(after.filter(({ name }) => name.startsWith('v_'))).toEqual(before)
      expect(after.filter(({ name }) => name.startsWith('g_'))).toHaveLength(MAX_GENERATED)
    })
  })
})
