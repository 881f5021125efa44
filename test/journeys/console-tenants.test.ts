import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { SYSTEM_TENANT } from '../../src/core/scopes.ts'
import { createTenant } from '../../src/invitations/create-tenant.ts'
import { ensureTenant } from '../../src/tenants/tenants.ts'
import { setUserRoles } from '../../src/users/roles.ts'
import { noBrowser, ORIGIN } from '../support/browser.ts'
import { startSession } from '../support/browser-session.ts'
import { assertAccessible, prepareConsole, readRows, SHOWN, test } from '../support/console-journey.ts'
import { collectPageErrors } from '../support/page-errors.ts'
import { makeUser } from '../support/protocol.ts'
import { newSlug } from '../support/tenants.ts'

test.beforeAll(async ({ ctx }) => {
  await prepareConsole({ ctx })
  await ensureTenant(SYSTEM_TENANT, { friendlyName: 'System' })
})

describe.skipIf(noBrowser)('the console of tenant system', () => {
  test('finds, creates, opens and deletes tenants, and follows the changes of others', async ({
    open,
    inbox,
  }) => {
    const system = createPlatformCtx(SYSTEM_TENANT)
    const slug = newSlug()
    // Other tests have tenants of usual names.
    const name = `Acme ${slug}`
    const administrator = `grace@${slug}.example`
    const { id } = await makeUser(SYSTEM_TENANT, `operator@${slug}.example`)
    await setUserRoles(system, id, { roles: ['admin', 'operator'] })
    const context = await open()
    await context.addCookies([{ ...(await startSession(SYSTEM_TENANT, id)), url: ORIGIN, httpOnly: true }])
    const page = await context.newPage()
    const errors = collectPageErrors(page)
    await page.goto(`${ORIGIN}/console`)
    await page.getByRole('link', { name: /^\d+ tenants$/ }).click(SHOWN)
    await page.getByPlaceholder('Search by name or slug').fill(slug)
    await page.getByText('No tenant has this name or slug.').waitFor(SHOWN)
    await createTenant(system, { slug: `${slug}-b`, settings: { friendlyName: 'Made elsewhere' } })
    await expect.poll(() => readRows(page), SHOWN).toEqual(['Made elsewhere'])
    await assertAccessible(page, '/tenants')

    await page.getByRole('button', { name: 'Create a tenant' }).click()
    await page.getByLabel('Slug').fill(`${slug}-b`)
    await page.getByLabel('Name', { exact: true }).fill(name)
    await page.getByLabel('Email address of the administrator').fill(administrator)
    await page.keyboard.press('Enter')
    await page.getByText('is taken', { exact: true }).waitFor(SHOWN)
    expect(await page.getByLabel('Email address of the administrator').inputValue()).toBe(administrator)
    await page.getByLabel('Slug').fill(slug)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name }).waitFor(SHOWN)
    expect(await inbox.list(administrator)).toMatchObject([{ subject: `You are invited to ${name}` }])
    await page.getByText('Nobody has the role admin, or nobody has accepted the invitation yet.').waitFor()
    await assertAccessible(page, '/tenant')
    expect(await page.getByRole('link', { name: 'Open its console' }).getAttribute('href')).toBe(
      `${ORIGIN}/${slug}/console`,
    )

    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByLabel(`Type “${slug}” to confirm`).fill(slug)
    await page.keyboard.press('Enter')
    await page.getByText(`${slug} is deleted.`).waitFor(SHOWN)
    await expect.poll(() => readRows(page), SHOWN).not.toContain(name)

    await page.getByRole('button', { name: 'Open another tenant' }).click()
    await page.getByLabel('Name or slug of a tenant').fill(`${slug}-b`)
    await page.getByRole('option', { name: 'Made elsewhere' }).waitFor(SHOWN)
    await page.keyboard.press('Enter')
    await page.waitForURL((url) => url.pathname.startsWith(`/${slug}-b/signin/`), SHOWN)
    expect(errors).toEqual([])

    // Without a role for the rest, an operator has the tenants alone.
    await setUserRoles(system, id, { roles: ['operator'] })
    await page.goto(`${ORIGIN}/system/console/tenants?search=${slug}`)
    await expect.poll(() => readRows(page), SHOWN).toEqual(['Made elsewhere'])
    expect(await page.locator('.sidebar li').allTextContents()).toEqual(['Start', 'Tenants', 'API'])
  })
})

describe.skipIf(noBrowser)('the start screen of a tenant', () => {
  test('says what to do next until it is done or dismissed', async ({
    acme,
    app,
    openConsole,
    newClient,
  }) => {
    const client = await newClient()
    const { page, errors } = await openConsole('admin')
    const card = page.locator('.next-steps')
    await card.getByRole('link', { name: 'Logo' }).waitFor(SHOWN)
    expect(await card.getByText('Administrator').count()).toBe(0)
    expect(await page.getByRole('button', { name: 'Open another tenant' }).count()).toBe(0)
    const url = 'https://other.example/callback'
    await fetch(
      `${app.origin}/${acme}/oidc/authorize?${new URLSearchParams({ client_id: client.id, redirect_uri: url, response_type: 'code', scope: 'openid' })}`,
    )
    await card.getByText(url).waitFor(SHOWN)
    await assertAccessible(page, '/start')
    await card.getByRole('link', { name: 'A redirect URI' }).click()
    await page.getByRole('button', { name: 'Add this redirect URI' }).waitFor(SHOWN)
    await page.goBack()
    await card.getByRole('button', { name: 'Dismiss' }).click(SHOWN)
    await expect.poll(() => card.count()).toBe(0)
    await page.reload()
    await page.getByText(/^\d+ users?$/).waitFor(SHOWN)
    expect(await card.count()).toBe(0)
    expect(errors).toEqual([])
  })
})
