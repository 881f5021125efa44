import { describe, expect } from 'vitest'
import { test as base } from '../../support/account-pages.ts'
import { dbFor } from '../../support/database.ts'

const clientsIn = (html: string): string[] =>
  [...html.matchAll(/name="client" value="([^"]+)"/g)].map(([, id]) => id as string)

const test = base.extend('consent', ({ tenant, newClient }) => async (userId: string) => {
  const client = await newClient({ name: 'Photo Shop' })
  await dbFor(tenant).consent.create({
    data: { tenantId: tenant, userId, clientId: client.id, scopes: ['openid', 'email'], claims: [] },
  })
  return client
})

describe('the page of apps', () => {
  test('says what an app may do, and removes its access', async ({
    tenant,
    person,
    consent,
    visit,
    submit,
  }) => {
    const { id, name } = await consent(person.id)
    const { html } = await visit('/apps')
    expect(clientsIn(html)).toEqual([id])
    expect(html).toContain(name)
    expect(html).toContain('See your email address')
    const done = await submit('/apps', { step: 'remove', client: id })
    expect(done.html).toContain('The app no longer has access to your account.')
    expect(done.html).toContain('No app has access to your account.')
    expect(await dbFor(tenant).consent.count({ where: { tenantId: tenant, userId: person.id } })).toBe(0)
  })

  test("does not remove another user's consent", async ({ tenant, person, consent, newPerson, submit }) => {
    await consent(person.id)
    const other = await newPerson()
    const { id } = await consent(other.id)
    const { response, html } = await submit('/apps', { step: 'remove', client: id })
    expect([response.status, html]).toEqual([400, expect.stringContaining('That is no longer there.')])
    expect(await dbFor(tenant).consent.count({ where: { tenantId: tenant, userId: other.id } })).toBe(1)
  })
})
