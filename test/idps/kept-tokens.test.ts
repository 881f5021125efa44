import { describe, expect } from 'vitest'
import { linkIdpUser, unlinkIdpUser } from '../../src/idps/idp-links.ts'
import { deleteIdentityProvider, updateIdentityProvider } from '../../src/idps/idps.ts'
import { deleteUser, lockUser } from '../../src/users/users.ts'
import { dbFor, type Sql, sql } from '../support/database.ts'
import { KEEPER_SCOPES, test } from '../support/kept-tokens.ts'
import { whileLocked } from '../support/locks.ts'
import { codeFor } from '../support/protocol.ts'
import { listTenantTables } from '../support/tenant-rows.ts'

/** All rows of a tenant, as text. */
async function readTenantRows(tenant: string): Promise<string> {
  const tables = await listTenantTables()
  const dumps = await Promise.all(
    tables.map((table) =>
      sql<{ rows: string | null }>(
        `SELECT string_agg(t::text, chr(10)) AS "rows" FROM "${table}" t WHERE t."tenantId" = $1`,
        [tenant],
      ),
    ),
  )
  return dumps.map(([dump]) => dump?.rows ?? '').join('\n')
}

describe('the tokens of an identity provider', () => {
  test('are kept, encrypted, by a sign-in at a provider with keepTokens', async ({
    tenant,
    keeper,
    enter,
    findTokens,
  }) => {
    const { access_token: accessToken, refresh_token: refreshToken } = await enter(keeper)
    const [row] = await findTokens(keeper)
    expect(row).toMatchObject({ scopes: KEEPER_SCOPES.split(' '), refreshId: null, refreshUntil: null })
    expect(row?.expiresAt?.getTime()).toBeGreaterThan(Date.now() + 500_000)
    for (const sealed of [row?.accessToken, row?.refreshToken]) expect(sealed).toMatch(/^[\w-]{8}\./)
    const stored = await readTenantRows(tenant)
    expect(stored).toContain(row?.accessToken)
    expect(stored).not.toContain(accessToken)
    expect(refreshToken).toEqual(expect.any(String))
    expect(stored).not.toContain(refreshToken)
  })

  test('are not kept without keepTokens', async ({ provider, enter, findTokens }) => {
    await enter(provider)
    expect(await findTokens(provider)).toEqual([])
  })

  test('are not kept of a locked user', async ({
    ctx,
    person,
    subject,
    keeper,
    link,
    signInBy,
    findTokens,
  }) => {
    await link(person.id, keeper, subject)
    await lockUser(ctx, person.id)
    await signInBy(keeper.id, subject)
    expect(await findTokens(keeper)).toEqual([])
  })

  test('are replaced by the next sign-in, which may come without a refresh token', async ({
    ctx,
    keeper,
    enter,
    findTokens,
    newBrowser,
  }) => {
    await enter(keeper)
    const [first] = await findTokens(keeper)
    await updateIdentityProvider(ctx, keeper.id, { scopes: 'openid email' })
    const { refresh_token: none } = await enter(keeper, newBrowser())
    await updateIdentityProvider(ctx, keeper.id, { scopes: KEEPER_SCOPES })
    expect(none).toBeUndefined()
    const [second] = await findTokens(keeper)
    expect(second?.accessToken).not.toBe(first?.accessToken)
    expect(second?.refreshToken).toBe(first?.refreshToken)
    expect(second?.scopes).toEqual(['openid', 'email'])
  })

  test('are kept of a new user', async ({ ctx, tenant, newKeeper, signInBy }) => {
    const keeper = await newKeeper()
    await updateIdentityProvider(ctx, keeper.id, { entry: 'anyone' })
    expect((await signInBy(keeper.id, 'newcomer')).location).toContain('code=')
    const where = { tenantId: tenant, idpId: keeper.id }
    expect(await dbFor(tenant).idpUserToken.count({ where })).toBe(1)
  })

  test('are kept when the identity is linked after a proof of the account, and sealed until then', async ({
    tenant,
    person,
    subject,
    keeper,
    browser,
    signInBy,
    findTokens,
  }) => {
    const first = await signInBy(keeper.id, subject)
    expect(first.html).toContain('is not connected to an account here')
    const { access_token: accessToken, refresh_token: refreshToken } = keeper.upstream.issued.at(-1) ?? {}
    const stored = await readTenantRows(tenant)
    for (const token of [accessToken, refreshToken]) {
      expect(token).toEqual(expect.any(String))
      expect(stored).not.toContain(token)
    }
    expect(await findTokens(keeper)).toEqual([])
    const { response, path } = await browser.submit(first, { step: 'email', address: person.email })
    const page = { html: await response.text(), path }
    const done = await browser.submit(page, { step: 'code', code: await codeFor(person.email) })
    expect(done.location).toContain('code=')
    expect(await findTokens(keeper)).toMatchObject([{ scopes: KEEPER_SCOPES.split(' ') }])
  })

  test('are kept of a code that links an identity, and not of other proofs', async ({
    ctx,
    person,
    keeper,
    findTokens,
  }) => {
    const { accessToken, idToken } = await keeper.upstream.tokensFor(person.id)
    await linkIdpUser(ctx, person.id, keeper.id, { accessToken })
    await linkIdpUser(ctx, person.id, keeper.id, { idToken })
    expect(await findTokens(keeper)).toEqual([])
    await linkIdpUser(ctx, person.id, keeper.id, await keeper.upstream.codeFor(person.id))
    expect(await findTokens(keeper)).toMatchObject([{ refreshToken: null }])
  })
})

describe('kept tokens', () => {
  test('are deleted with the link', async ({ ctx, person, keeper, enter, findTokens }) => {
    await enter(keeper)
    await unlinkIdpUser(ctx, person.id, keeper.id)
    expect(await findTokens(keeper)).toEqual([])
  })

  test('are deleted with the user', async ({ ctx, tenant, person, keeper, enter, findTokens }) => {
    await enter(keeper)
    const [{ linkId } = { linkId: '' }] = await findTokens(keeper)
    await deleteUser(ctx, person.id)
    expect(await dbFor(tenant).idpUserToken.count({ where: { tenantId: tenant, linkId } })).toBe(0)
  })

  test('are deleted with the provider', async ({ ctx, tenant, newKeeper, enter }) => {
    const keeper = await newKeeper()
    await enter(keeper)
    const where = { tenantId: tenant, idpId: keeper.id }
    expect(await dbFor(tenant).idpUserToken.count({ where })).toBe(1)
    await deleteIdentityProvider(ctx, keeper.id)
    expect(await dbFor(tenant).idpUserToken.count({ where })).toBe(0)
  })

  test.for([
    { keepTokens: false },
    { clientId: 'another' },
    { tokenEndpoint: 'http://127.0.0.1:9/token', clientSecret: null },
  ])(
    'are deleted by the change %j of the provider',
    async (change, { ctx, newKeeper, enter, findTokens }) => {
      const keeper = await newKeeper()
      await enter(keeper)
      await updateIdentityProvider(ctx, keeper.id, { name: 'Another name' })
      expect(await findTokens(keeper)).toHaveLength(1)
      await updateIdentityProvider(ctx, keeper.id, change)
      expect(await findTokens(keeper)).toEqual([])
    },
  )

  test('are not stored by a sign-in during which the provider is switched off', async ({
    tenant,
    person,
    subject,
    keeper,
    link,
    start,
    choose,
    signInThere,
    comeBack,
    findTokens,
  }) => {
    await link(person.id, keeper, subject)
    const callback = await signInThere(await choose(await start(), keeper.id), subject)
    const setKeepTokens = (sql: Sql, value: boolean) =>
      sql('UPDATE "IdentityProvider" SET "keepTokens" = $3 WHERE "tenantId" = $1 AND "id" = $2', [
        tenant,
        keeper.id,
        value,
      ])
    const switchOff = async (sql: Sql) => {
      await sql('SELECT FROM "IdentityProvider" WHERE "tenantId" = $1 AND "id" = $2 FOR UPDATE', [
        tenant,
        keeper.id,
      ])
      await setKeepTokens(sql, false)
    }
    const { location } = await whileLocked(switchOff, () => comeBack(callback))
    await setKeepTokens(sql, true)
    expect(location).toContain('code=')
    expect(await findTokens(keeper)).toEqual([])
  })
})
