import { describe, expect } from 'vitest'
import { useSecondFactor } from '../../src/credentials/second-factors/second-factor-use.ts'
import { getUserByEmail } from '../../src/users/users.ts'
import { ctxFor } from '../support/actors.ts'
import { dbFor } from '../support/database.ts'
import { makeUser } from '../support/protocol.ts'
import { test as base } from '../support/tenant-per-test.ts'
import { computeTotp } from '../support/totp.ts'
import { exportAll, importLines, toStatuses } from '../support/user-lines.ts'

/** That of RFC 6238. */
const KEY = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
const identities = [{ idpId: 'google', externalId: '117' }]
const line = {
  email: 'ada@example.com',
  emailVerified: true,
  totpKey: 'gezd gnbv gy3t qojq gezd gnbv gy3t qojq',
  identities,
}

const test = base
  .extend('google', async ({ tenant }) => {
    await dbFor(tenant).identityProvider.create({
      data: { tenantId: tenant, id: 'google', type: 'google', name: 'Google' },
    })
  })
  .extend(
    'typesOf',
    ({ events }) =>
      async (userId: string) =>
        (await events()).filter((event) => event.userId === userId).map(({ type }) => type),
  )

describe('a line of an import', () => {
  test('brings an authenticator app and identities, once', async ({ ctx, tenant, google: _, typesOf }) => {
    expect(toStatuses(await importLines(ctx, [line, { email: 'bea@example.com' }]))).toEqual([
      'created',
      'created',
    ])
    expect(toStatuses(await importLines(ctx, [line, { email: 'bea@example.com' }]))).toEqual([
      'unchanged',
      'unchanged',
    ])
    const { id, hasSecondFactor } = await getUserByEmail(ctx, 'ada@example.com')
    expect(hasSecondFactor).toBe(true)
    expect(await typesOf(id)).toEqual(['user.created', 'credential.enrolled', 'idpuser.added'])
    const presented = { userId: id, browser: null, method: 'totp', code: computeTotp(KEY) } as const
    const use = () => ctx.db.transaction((tx) => useSecondFactor(tx, ctx, presented, new Date()))
    expect([await use(), await use()]).toEqual([{ remainingCodes: null }, null])
    const links = await dbFor(tenant).idpUser.findMany({ where: { tenantId: tenant } })
    expect(links).toMatchObject([
      { userId: id, ...identities[0], issuer: 'https://accounts.google.com', byManagement: true },
    ])
    expect(JSON.stringify(await exportAll(ctx))).not.toMatch(new RegExp(`${KEY}|totpKey|identities`))
  })

  test('gives an existing user what it lacks, and writes nothing in a dry run', async ({
    ctx,
    tenant,
    google: _,
  }) => {
    await makeUser(tenant, 'ada@example.com')
    expect(toStatuses(await importLines(ctx, [line], { dryRun: true }))).toEqual(['updated'])
    expect(await dbFor(tenant).credential.count({ where: { tenantId: tenant } })).toBe(0)
    expect(toStatuses(await importLines(ctx, [line]))).toEqual(['updated'])
  })

  test('is an error for a key, a provider or an identity that does not fit, and leaves the user out', async ({
    ctx,
    google: _,
  }) => {
    const [key, provider, ...others] = await importLines(ctx, [
      { ...line, email: 'a@example.com', totpKey: 'no key' },
      { ...line, email: 'b@example.com', identities: [...identities, { idpId: 'other', externalId: '1' }] },
      line,
      { ...line, email: 'c@example.com' },
    ])
    expect(key).toMatchObject({ status: 'error', fields: [{ field: 'totpKey' }] })
    expect(provider).toMatchObject({ status: 'error', fields: [{ field: 'identities.1.idpId' }] })
    expect(others).toMatchObject([
      { status: 'created' },
      { status: 'error', fields: [{ field: 'externalId', description: 'is linked to another user' }] },
      { summary: { created: 1, failed: 3 } },
    ])
    await expect(getUserByEmail(ctx, 'b@example.com')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('needs the scopes of credentials and of providers for them', async ({ tenant, google: _ }) => {
    const { email, totpKey } = line
    const results = await importLines(await ctxFor(tenant, ['users:write']), [
      { email: 'a@example.com', totpKey },
      { email: 'b@example.com', identities },
      { email },
    ])
    expect(results).toMatchObject([
      { status: 'error', code: 'FORBIDDEN', message: expect.stringContaining('credentials:write') },
      { status: 'error', code: 'FORBIDDEN', message: expect.stringContaining('idps:write') },
      { status: 'created' },
      { summary: { failed: 2 } },
    ])
  })

  test('gives neither to a user whose roles permit more than the caller may do', async ({
    ctx,
    tenant,
    google: _,
  }) => {
    const { id } = await makeUser(tenant, 'ada@example.com')
    await dbFor(tenant).user.update({
      where: { tenantId_id: { tenantId: tenant, id } },
      data: { roles: ['admin'] },
    })
    const caller = await ctxFor(tenant, ['users:write', 'credentials:write', 'idps:write'])
    const [result] = await importLines(caller, [line])
    expect(result).toMatchObject({ status: 'error', code: 'FORBIDDEN' })
    expect(await dbFor(tenant).credential.count({ where: { tenantId: tenant } })).toBe(0)
    expect(toStatuses(await importLines(ctx, [line]))).toEqual(['updated'])
  })
})
