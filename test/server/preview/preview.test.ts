import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../../src/context/context.ts'
import { updateSettings } from '../../../src/tenants/settings.ts'
import { setUserRoles } from '../../../src/users/roles.ts'
import { test as base } from '../../support/account-pages.ts'
import { listTags } from '../../support/pages.tsx'

const RED = '#c00000'

/** `test` with the preview, as the person of the browser sees it. */
const test = base
  .extend(
    'preview',
    ({ tenant, here }) =>
      (path = '', method = 'GET') =>
        here.fetch(`/${tenant}/brand/preview${path}`, {
          method,
          ...(method === 'POST' && {
            headers: { 'sec-fetch-site': 'same-origin' },
            body: new URLSearchParams({
              settings: JSON.stringify({
                textOverrides: [{ locale: 'en', key: 'signIn.title', text: 'From the form' }],
                defaultLocale: 'de',
              }),
            }),
          }),
        }),
  )
  .extend(
    'becomeAdministrator',
    ({ tenant, person }) =>
      (roles: string[] = ['admin']) =>
        setUserRoles(createPlatformCtx(tenant), person.id, { roles }),
  )

describe('the preview of the brand', () => {
  test('shows every sample in light and dark to an administrator of the tenant', async ({
    tenant,
    ctx,
    preview,
    becomeAdministrator,
  }) => {
    await updateSettings(ctx, { themeColor: RED, friendlyName: 'Acme' })
    await becomeAdministrator()
    const response = await preview()
    expect(response.status).toBe(200)
    expect(response.headers.get('content-security-policy')).toContain("; frame-src 'self';")
    const frames = listTags(await response.text()).filter(({ name }) => name === 'iframe')
    expect(frames.length).toBeGreaterThan(40)
    const paths = new Set(frames.map(({ attributes }) => attributes.src ?? ''))
    expect(paths.size).toBe(frames.length / 2)
    for (const path of paths) {
      expect(path).toMatch(new RegExp(`^/${tenant}/brand/preview/(page|mail)/[a-z-]+$`))
      const sample = await preview(path.replace(`/${tenant}/brand/preview`, ''))
      expect([path, sample.status]).toEqual([path, 200])
      expect(sample.headers.get('content-security-policy')).toMatch(/frame-ancestors (?!'none')/)
      // The script that sends a form once, and none of the page.
      expect(sample.headers.get('content-security-policy')).not.toMatch(/connect-src|script-src (?!'self';)/)
      expect(await sample.text()).toContain(RED)
    }
  })

  test.for<[string, string[]]>([
    ['auditor', ['auditor']],
    ['admin', ['admin']],
  ])('is for the role %s', async ([_role, roles], { preview, becomeAdministrator }) => {
    await becomeAdministrator(roles)
    expect((await preview()).status).toBe(200)
  })

  test('does not exist for a user without a role', async ({ preview }) => {
    for (const path of ['', '/page/sign-in', '/mail/sign-in'])
      for (const method of ['GET', 'POST']) {
        const response = await preview(path, method)
        expect([path, method, response.status]).toEqual([path, method, 404])
        expect(await response.text()).not.toContain('Example app')
      }
  })

  test('shows the texts of the tenant in its pages and mails', async ({
    ctx,
    preview,
    becomeAdministrator,
  }) => {
    await becomeAdministrator()
    await updateSettings(ctx, {
      textOverrides: [
        { locale: 'en', key: 'signIn.title', text: 'Welcome aboard' },
        { locale: 'en', key: 'passcode.signInTitle', text: 'Your boarding code for {name}' },
      ],
    })
    expect(await (await preview('/page/sign-in')).text()).toContain('<h1>Welcome aboard</h1>')
    expect(await (await preview('/mail/sign-in')).text()).toMatch(/>Your boarding code for/)
  })

  test('shows settings that are not saved to a page of this server', async ({
    ctx,
    tenant,
    here,
    becomeAdministrator,
  }) => {
    await updateSettings(ctx, { friendlyName: 'Stored', themeColor: RED })
    await becomeAdministrator()
    const pixel = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk'
    const post = (path: string, settings: unknown, site = 'same-origin') =>
      here.fetch(`/${tenant}/brand/preview${path}`, {
        method: 'POST',
        headers: { 'sec-fetch-site': site },
        body: new URLSearchParams({
          settings: typeof settings === 'string' ? settings : JSON.stringify(settings),
        }),
      })
    const unsaved = {
      friendlyName: 'Unsaved',
      themeColor: '#00ff0',
      darkThemeColor: '#00ff00',
      logoUrl: pixel,
      textOverrides: [
        { locale: 'de', key: 'signIn.title', text: 'Hereinspaziert' },
        { locale: 'de', key: 'passcode.signInAside', text: 'Hereinspaziert!' },
      ],
      tenantId: 'other',
    }
    for (const path of ['/page/sign-in', '/mail/sign-in']) {
      const html = await (await post(`${path}?ui_locales=de`, unsaved)).text()
      expect([path, html]).toEqual([path, expect.stringContaining('Unsaved')])
    }
    const page = await (await post('/page/sign-in?ui_locales=de', unsaved)).text()
    expect(page).toContain('<h1>Hereinspaziert</h1>')
    expect(page).toContain(pixel)
    // The color that is still typed is the stored one.
    expect(page).toContain(RED)
    const mail = await (await post('/mail/sign-in?ui_locales=de', unsaved)).text()
    expect(mail).toContain('Hereinspaziert!')
    expect(mail).toContain(pixel)
    for (const settings of ['', 'null', '[1]', '{"__proto__":1}', { friendlyName: { a: 1 } }]) {
      const response = await post('/page/sign-in', settings)
      expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('Stored')])
    }
    for (const site of ['same-site', 'cross-site', 'none', ''])
      expect((await post('/page/sign-in', unsaved, site)).status).toBe(403)
    expect((await post('/page/nothing', unsaved)).status).toBe(404)
  })

  test('has samples in the language of the browser', async ({ here, tenant, becomeAdministrator }) => {
    await becomeAdministrator()
    const headers = { 'accept-language': 'de' }
    const page = await here.fetch(`/${tenant}/brand/preview/page/wrong-code`, { headers })
    const html = await page.text()
    expect(html).toContain('<html lang="de"')
    expect(html).not.toContain('That code is wrong')
  })

  test.for([
    ['sign-in', 'passkey'],
    ['passkey-setup', 'passkey-creation'],
    ['enrollment', 'enrollment'],
  ])(
    'shows the button of a passkey in %s, whose script does not run',
    async ([name, id], { preview, becomeAdministrator }) => {
      await becomeAdministrator()
      const tags = listTags(await (await preview(`/page/${name}`)).text())
      expect(tags.find(({ attributes }) => attributes.id === id)?.attributes).not.toHaveProperty('hidden')
      expect(tags.filter(({ name }) => name === 'noscript')).toEqual([])
    },
  )

  test('has no sample of another name', async ({ preview, becomeAdministrator }) => {
    await becomeAdministrator()
    for (const path of ['/page/nothing', '/mail/constructor', '/page/__proto__', '/else/sign-in'])
      expect([path, (await preview(path)).status]).toEqual([path, 404])
  })

  test('leads to the sign-in without a session', async ({ tenant, newBrowser }) => {
    const response = await newBrowser().fetch(`/${tenant}/brand/preview`)
    expect(response.status).toBe(303)
    expect(response.headers.get('location')).toMatch(new RegExp(`^/${tenant}/signin/`))
  })
})
