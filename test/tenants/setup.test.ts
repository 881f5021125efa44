import { describe, expect } from 'vitest'
import { createClient } from '../../src/clients/clients.ts'
import { ensureConsoleClient } from '../../src/clients/console-client.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { SYSTEM_TENANT } from '../../src/core/scopes.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { grantRole, setUserRoles } from '../../src/users/roles.ts'
import { updateUser } from '../../src/users/users.ts'
import { newTenant } from '../support/actors.ts'
import { sql } from '../support/database.ts'
import type { Json } from '../support/json.ts'
import { test as base } from '../support/tenants.ts'

type Step = { item: string; done: boolean; dueAt: string | null }
const listMissing = (setup: Step[]) => setup.filter(({ done }) => !done).map(({ item }) => item)

const test = base
  /** A tenant of the test, and the setup of it as REST returns it. */
  .extend('slug', ({ system: _ }) => newTenant())
  .extend('readSetup', ({ slug, rest }) => async (): Promise<Step[]> => {
    const { body } = await rest('GET', '/setup', undefined, { tenant: slug })
    return body.setup
  })

describe('the setup of a tenant', () => {
  test('has each step until it is done', async ({ slug, readSetup }) => {
    const ctx = createPlatformCtx(slug)
    await ensureConsoleClient(slug)
    const setup = await readSetup()
    expect(setup.map(({ item }) => item)).toEqual([
      'mail-server',
      'administrator',
      'application',
      'logo',
      'support',
      'signing-key',
    ])
    // The machine client of the test is an application.
    const others = ['mail-server', 'logo', 'support']
    expect(listMissing(setup)).toEqual(['mail-server', 'administrator', 'logo', 'support'])
    const { user } = await grantRole(ctx, 'boss@acme.example', 'admin')
    expect(listMissing(await readSetup())).toEqual(others)
    await updateUser(ctx, user.id, { locked: true })
    expect(listMissing(await readSetup())).toContain('administrator')
    await updateUser(ctx, user.id, { locked: false })
    await setUserRoles(ctx, user.id, { roles: ['support', 'auditor'] })
    expect(listMissing(await readSetup())).toContain('administrator')
    await updateSettings(ctx, { signUp: 'open', logoUrl: 'https://acme.example/logo.png' })
    expect(listMissing(await readSetup())).toEqual(['mail-server', 'administrator', 'support', 'terms'])
    await updateSettings(ctx, {
      termsUrl: 'https://acme.example/terms',
      supportUrl: 'https://acme.example/help',
    })
    expect(listMissing(await readSetup())).toEqual(['mail-server', 'administrator'])
  })

  test('does not take the console for an application', async ({ system: _, systemToken, rest }) => {
    const { slug } = (
      await rest(
        'POST',
        '/tenants',
        { slug: `setup-${Date.now()}` },
        { tenant: SYSTEM_TENANT, token: systemToken },
      )
    ).body
    const read = async () =>
      (await rest('GET', `/tenants/${slug}/setup`, undefined, { tenant: SYSTEM_TENANT, token: systemToken }))
        .body.setup
    await ensureConsoleClient(slug)
    expect(listMissing(await read())).toContain('application')
    await createClient(createPlatformCtx(slug), { name: 'App', appType: 'machine', type: 'login' })
    expect(listMissing(await read())).not.toContain('application')
  })

  test('says when a signing key is due for rotation', async ({ slug, readSetup }) => {
    const findKey = async () => (await readSetup()).find(({ item }) => item === 'signing-key')
    const days = (Date.parse((await findKey())?.dueAt ?? '') - Date.now()) / 86_400_000
    expect(days).toBeCloseTo(90, 1)
    await sql(`UPDATE "SigningKey" SET "activeAt" = now() - interval '91 days' WHERE "tenantId" = $1`, [slug])
    expect(await findKey()).toMatchObject({ done: false, dueAt: expect.any(String) })
  })

  test('of other tenants is read by operators only, of a page of tenants in one statement', async ({
    slug,
    tenant,
    systemToken,
    gql,
    rest,
  }) => {
    const operator = { tenant: SYSTEM_TENANT, token: systemToken }
    const query =
      'query ($search: String) { tenants(filter: { search: $search }) { nodes { id setup { item done dueAt } } } }'
    const { body } = await gql(query, { search: slug }, operator)
    const one = await rest('GET', `/tenants/${slug}/setup`, undefined, operator)
    const [node] = body.data.tenants.nodes
    expect(
      node.setup.map((step: Json) => ({ ...step, item: step.item.toLowerCase().replace('_', '-') })),
    ).toEqual(one.body.setup)
    expect((await rest('GET', '/tenants/nowhere/setup', undefined, operator)).status).toBe(404)
    expect((await rest('GET', `/tenants/${slug}/setup`)).status).toBe(403)
    expect(
      (await gql('{ tenant { id setup { item } } }', {}, { scopes: ['users:read'] })).body.data.tenant,
    ).toBeNull()
    expect(tenant).not.toBe(slug)
  })
})
