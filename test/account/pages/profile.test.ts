import { describe, expect } from 'vitest'
import { takeChange } from '../../../src/coordination/person-budgets.ts'
import { getUser, updateUser } from '../../../src/users/users.ts'
import { test as base } from '../../support/account-pages.ts'
import { dbFor } from '../../support/database.ts'
import { listTags } from '../../support/pages.tsx'

const PATH = '/profile'

const test = base.extend('open', ({ visit }) => async () => {
  const { html } = await visit(PATH)
  return { html, 'updated-at': /name="updated-at" value="([^"]+)"/.exec(html)?.[1] ?? '' }
})

describe('the page of the profile', () => {
  test('shows the profile and saves what was changed', async ({ ctx, person, open, submit, events }) => {
    await updateUser(ctx, person.id, { nickname: 'Countess', birthdate: '0000-12-10' })
    const { html, ...shown } = await open()
    expect(html).toContain('value="Countess"')
    expect(html).toContain('value="0000-12-10"')
    const form = {
      step: 'save',
      ...shown,
      name: 'Ada Lovelace',
      birthdate: '0000-12-10',
      zoneinfo: 'Europe/London',
    }
    expect((await submit(PATH, form)).html).toContain('Your profile is saved.')
    expect(await getUser(ctx, person.id)).toMatchObject({
      name: 'Ada Lovelace',
      nickname: null,
      birthdate: '0000-12-10',
      zoneinfo: 'Europe/London',
    })
    expect((await events({ type: 'user.updated' })).slice(-1)).toMatchObject([
      { userId: person.id, actorUserId: person.id, actorClientId: null },
    ])
  })

  test('saves changes when a client of the user has made all those of an hour', async ({
    ctx,
    person,
    open,
    submit,
  }) => {
    const byClient = { userId: person.id, grantId: 'grant_a' }
    for (let n = 0; n < 300; n++) takeChange(ctx.tenant, byClient)
    expect(() => takeChange(ctx.tenant, byClient)).toThrow('Too many changes of an account')
    const { html: _, ...shown } = await open()
    const page = await submit(PATH, { step: 'save', ...shown, name: 'Ada Lovelace' })
    expect(page.html).toContain('Your profile is saved.')
  })

  test('groups the fields and offers the languages by name', async ({ ctx, person, open, submit }) => {
    const { html, ...shown } = await open()
    for (const legend of ['Name', 'About you', 'Language and region'])
      expect(html).toContain(`<legend>${legend}</legend>`)
    expect(html).toContain('<option value="de">Deutsch</option>')
    expect(html).not.toContain('(optional)')
    await submit(PATH, { step: 'save', ...shown, locale: 'ja' })
    expect((await getUser(ctx, person.id)).locale).toBe('ja')
    expect((await open()).html).toContain('<option value="ja" selected>日本語</option>')
  })

  test('keeps a stored language that no catalog has', async ({ ctx, person, open, submit }) => {
    await updateUser(ctx, person.id, { locale: 'de-AT' })
    const { html, ...shown } = await open()
    expect(html).toContain('<option value="de-AT" selected>de-AT</option>')
    await submit(PATH, { step: 'save', ...shown, locale: 'de-AT', name: 'Ada' })
    expect(await getUser(ctx, person.id)).toMatchObject({ locale: 'de-AT', name: 'Ada' })
  })

  test('marks each invalid field and says in plain words what is wrong', async ({ open, submit }) => {
    const { html: _, ...shown } = await open()
    const page = await submit(PATH, { step: 'save', ...shown, website: 'acme', birthdate: 'x' })
    const invalid = listTags(page.html).filter(({ attributes }) => attributes['aria-invalid'])
    expect(invalid.map(({ attributes }) => attributes.name)).toEqual(['birthdate', 'website'])
    expect(page.html).toContain('Website must be a web address.')
    expect(page.html).toContain('Check the fields that are marked.')
  })

  test('rejects an invalid language and names the field', async ({ open, submit }) => {
    const { html: _, ...shown } = await open()
    const page = await submit(PATH, { step: 'save', ...shown, locale: 'no language' })
    expect(page.response.status).toBe(400)
    expect(page.html).toContain('Language ')
  })

  test('names each invalid field, keeps what was entered and saves nothing', async ({
    ctx,
    person,
    open,
    submit,
  }) => {
    const { html: _, ...shown } = await open()
    const form = { step: 'save', ...shown, name: 'New Name', website: 'no url', zoneinfo: 'Mars/Olympus' }
    const page = await submit(PATH, form)
    expect(page.response.status).toBe(400)
    for (const text of ['Website ', 'Time zone ', 'value="New Name"', 'value="no url"'])
      expect(page.html).toContain(text)
    expect((await getUser(ctx, person.id)).name).not.toBe('New Name')
  })

  test('does not overwrite a change that was made since the page was shown', async ({
    ctx,
    person,
    open,
    submit,
  }) => {
    const { html: _, ...shown } = await open()
    await updateUser(ctx, person.id, { name: 'Changed elsewhere' })
    const page = await submit(PATH, { step: 'save', ...shown, name: 'Stale' })
    expect(page.response.status).toBe(409)
    expect((await getUser(ctx, person.id)).name).toBe('Changed elsewhere')
  })

  test('says that it was saved to the session that saved it only', async ({ here, open, submit, visit }) => {
    const { html: _, ...shown } = await open()
    const saved = await submit(PATH, { step: 'save', ...shown, name: 'Ada' })
    expect(saved.html).toContain('Your profile is saved.')
    expect((await visit(`${PATH}?done=saved`)).html).not.toContain('Your profile is saved.')
    const query = saved.path.split('?')[1]
    expect((await visit(`${PATH}?${query}`, here)).html).toContain('Your profile is saved.')
    const forged = (query ?? '').replace('done=saved', 'done=other')
    expect((await visit(`/sessions?${forged}`)).html).not.toContain('role="status"')
  })

  test('changes nothing that users may not change', async ({ tenant, person, open, submit }) => {
    const { html: _, ...shown } = await open()
    const read = () =>
      dbFor(tenant).user.findUniqueOrThrow({ where: { tenantId_id: { tenantId: tenant, id: person.id } } })
    const before = await read()
    const form = {
      step: 'save',
      ...shown,
      name: 'Eve',
      roles: 'admin',
      email: 'eve@evil.example',
      locked: 'true',
    }
    await submit(PATH, form)
    const { name, roles, email, locked } = await read()
    expect({ name, roles, email, locked }).toEqual({
      name: 'Eve',
      roles: before.roles,
      email: before.email,
      locked: before.locked,
    })
  })
})
