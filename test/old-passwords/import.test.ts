import { describe, expect } from 'vitest'
import { system } from '../../src/database/system.ts'
import { deleteFinishedRows } from '../../src/jobs/cleanup.sql.ts'
import { matchOldPassword, takeOldPassword } from '../../src/old-passwords/old-passwords.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { getUserByEmail } from '../../src/users/users.ts'
import { ctxFor } from '../support/actors.ts'
import { dbFor } from '../support/database.ts'
import { makeUser } from '../support/protocol.ts'
import { OLD_HASH, OLD_PASSWORD, startMigration } from '../support/sign-in-methods.ts'
import { test as base } from '../support/tenant-per-test.ts'
import { exportAll, importLines, toStatuses } from '../support/user-lines.ts'

const proof = { hash: { algorithm: 'sha256', value: OLD_HASH, encoding: 'base64' } }
const OTHER_PROOF = { hash: { algorithm: 'md5', value: '900150983cd24fb0d6963f7d28e17f72' } }
const line = { email: 'ada@example.com', emailVerified: true, proof }

const test = base.extend(
  'stored',
  ({ tenant }) =>
    () =>
      dbFor(tenant).oldPassword.findMany({ where: { tenantId: tenant }, orderBy: { userId: 'asc' } }),
)

describe('an import of old passwords', () => {
  test('stores the hash of each line, and of a later line another one', async ({ ctx, events, stored }) => {
    await startMigration(ctx)
    const lines = [line, { email: 'bea@example.com' }]
    expect(toStatuses(await importLines(ctx, lines))).toEqual(['created', 'created'])
    expect(toStatuses(await importLines(ctx, lines))).toEqual(['unchanged', 'unchanged'])
    expect(toStatuses(await importLines(ctx, [{ ...line, proof: OTHER_PROOF }]))).toEqual(['updated'])
    const { id } = await getUserByEmail(ctx, 'ada@example.com')
    expect((await stored()).map(({ userId }) => userId)).toEqual([id])
    expect(await matchOldPassword(ctx, { userId: id, address: 'a' }, 'abc')).toMatchObject({
      algorithm: 'digest',
    })
    expect(await matchOldPassword(ctx, { userId: id, address: 'a' }, OLD_PASSWORD)).toBeNull()
    expect((await events({ type: 'user.updated' })).map(({ changedFields }) => changedFields)).toEqual([
      ['proof'],
    ])
  })

  test('writes nothing in a dry run', async ({ ctx, stored }) => {
    await startMigration(ctx)
    expect(toStatuses(await importLines(ctx, [line], { dryRun: true }))).toEqual(['created'])
    expect(await stored()).toEqual([])
  })

  test('names the member of a hash that costs too much, and imports the other lines', async ({
    ctx,
    stored,
  }) => {
    await startMigration(ctx)
    const value = '$argon2id$v=19$m=4194304,t=10,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4'
    const results = await importLines(ctx, [
      { email: 'bea@example.com', proof: { hash: { algorithm: 'argon2', value } } },
      line,
    ])
    expect(results[0]).toMatchObject({ status: 'error', fields: [{ field: 'proof.hash.value' }] })
    expect(await stored()).toHaveLength(1)
  })

  test('rejects lines with a proof while the tenant does not migrate', async ({ ctx, stored }) => {
    for (const migrationEndsAt of [null, new Date(Date.now() - 1000).toISOString()]) {
      await updateSettings(ctx, { migrationEndsAt })
      const [result] = await importLines(ctx, [line])
      expect(result).toMatchObject({ status: 'error', fields: [{ field: 'proof' }] })
    }
    expect(await stored()).toEqual([])
  })

  test('gives no password to a user whose roles permit more than the caller may do', async ({
    ctx,
    tenant,
    stored,
  }) => {
    await startMigration(ctx)
    const { id } = await makeUser(tenant, 'root@example.com')
    await dbFor(tenant).user.update({
      where: { tenantId_id: { tenantId: tenant, id } },
      data: { roles: ['admin'] },
    })
    const caller = await ctxFor(tenant, ['users:write', 'credentials:write'])
    const [result] = await importLines(caller, [{ email: 'root@example.com', proof }])
    expect(result).toMatchObject({ status: 'error', code: 'FORBIDDEN' })
    expect(await stored()).toEqual([])
    expect(toStatuses(await importLines(ctx, [{ email: 'root@example.com', proof }]))).toEqual(['updated'])
  })

  test('does not bring a used password back', async ({ ctx, stored }) => {
    await startMigration(ctx)
    await importLines(ctx, [line])
    const { id } = await getUserByEmail(ctx, 'ada@example.com')
    const matched = await matchOldPassword(ctx, { userId: id, address: 'a' }, OLD_PASSWORD)
    if (!matched) throw new Error('the password did not match')
    const take = () => ctx.db.transaction((tx) => takeOldPassword(tx, id, matched, new Date()))
    // Each in a transaction of its own, as two processes would.
    expect((await Promise.all([take(), take()])).sort()).toEqual([false, true])
    expect(toStatuses(await importLines(ctx, [line, { ...line, proof: OTHER_PROOF }]))).toEqual([
      'unchanged',
      'unchanged',
    ])
    expect((await stored()).map(({ hash, usedAt }) => [hash, usedAt])).toEqual([[null, expect.any(Date)]])
  })

  test('keeps the hash out of every table, export and event, but for one sealed column', async ({
    ctx,
    tenant,
    events,
    stored,
  }) => {
    await startMigration(ctx)
    await importLines(ctx, [line])
    expect(JSON.stringify([await exportAll(ctx), await events()])).not.toContain(OLD_HASH)
    const [row] = await stored()
    expect(row?.hash).not.toContain(OLD_HASH)
    expect(JSON.stringify(await exportAll(ctx))).not.toMatch(/proof|oldPassword/)
    const foreign = await dbFor(tenant).user.findMany({ where: { tenantId: tenant } })
    expect(JSON.stringify(foreign)).not.toContain(OLD_HASH)
  })

  test('leaves nothing after the end of the migration: all hashes are deleted unread', async ({
    ctx,
    stored,
  }) => {
    await startMigration(ctx)
    await importLines(ctx, [line, { email: 'bea@example.com', proof: OTHER_PROOF }])
    const now = new Date()
    await deleteFinishedRows(system, 'OldPassword', now, 500)
    expect(await stored()).toHaveLength(2)
    await updateSettings(ctx, { migrationEndsAt: now.toISOString() })
    expect(await deleteFinishedRows(system, 'OldPassword', now, 500)).toBeGreaterThanOrEqual(2)
    expect(await stored()).toEqual([])
  })
})
