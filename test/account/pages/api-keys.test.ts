import { describe, expect } from 'vitest'
import { createApiKey } from '../../../src/api-keys/api-keys.ts'
import { createPlatformCtx } from '../../../src/context/context.ts'
import { updateSettings } from '../../../src/tenants/settings.ts'
import { setUserRoles } from '../../../src/users/roles.ts'
import { test } from '../../support/account-pages.ts'

describe('the page of API keys', () => {
  test('does not exist where the tenant permits no keys and the user has none', async ({ visit }) => {
    expect((await visit('/api-keys')).response.status).toBe(404)
    expect((await visit()).html).not.toContain('/account/api-keys')
  })

  test('creates a key for an API, which it shows once, and revokes it', async ({
    ctx,
    person,
    newClient,
    visit,
    submit,
    events,
  }) => {
    await newClient({ name: 'Orders', resources: ['https://orders.example'] })
    await updateSettings(ctx, { userApiKeys: true })
    expect((await visit()).html).toContain('/account/api-keys')
    const { html } = await visit('/api-keys')
    expect(html).toContain('You have no API keys.')
    expect(html).toContain('Orders')
    expect(html).not.toContain('type="checkbox"')
    const wrong = await submit('/api-keys', { step: 'create', name: '' })
    expect(wrong.html).toContain('What the key is for')
    const made = await submit('/api-keys', {
      step: 'create',
      name: 'Calendar',
      resource: 'https://orders.example',
    })
    const key = /vstb_[0-9A-Za-z]{49}/.exec(made.html)?.[0] ?? 'none'
    const listed = await visit('/api-keys')
    expect(listed.html).toContain('Calendar')
    expect(listed.html).toContain(`${key.slice(0, 9)}…`)
    expect(listed.html).not.toContain(key)
    expect((await events({ type: 'api_key.created', userId: person.id })).at(-1)).toMatchObject({
      actorUserId: person.id,
      detail: { scopes: '' },
    })
    const id = /name="key" value="([^"]+)"/.exec(listed.html)?.[1] ?? ''
    const done = await submit('/api-keys', { step: 'revoke', key: id })
    expect(done.html).toContain('The key is revoked.')
    expect(done.html).not.toContain('Calendar')
  })

  test('offers the scopes of the roles, and revokes keys of the user alone', async ({
    ctx,
    tenant,
    person,
    newPerson,
    app,
    visit,
    submit,
  }) => {
    await updateSettings(ctx, { userApiKeys: true })
    await setUserRoles(createPlatformCtx(tenant), person.id, { roles: ['support'] })
    const { html } = await visit('/api-keys')
    expect(html).toContain('name="scope:users:read"')
    expect(html).not.toContain('name="scope:clients:read"')
    const made = await submit('/api-keys', {
      step: 'create',
      name: 'Script',
      resource: '',
      'scope:users:read': 'on',
    })
    const key = /vstb_[0-9A-Za-z]{49}/.exec(made.html)?.[0] ?? 'none'
    expect((await app.rest(tenant, key, 'GET', '/users')).status).toBe(200)
    const more = await submit('/api-keys', { step: 'create', name: 'More', 'scope:clients:write': 'on' })
    expect(more.html).not.toContain('vstb_0')
    expect(more.response.status).toBeGreaterThanOrEqual(400)
    const other = await createApiKey(ctx, { name: 'Other', userId: (await newPerson()).id })
    const rejected = await submit('/api-keys', { step: 'revoke', key: other.apiKey.id })
    expect(rejected.html).toContain('That is no longer there.')
  })
})
