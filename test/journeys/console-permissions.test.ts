import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { createMembership } from '../../src/organizations/memberships.ts'
import { createOrganization } from '../../src/organizations/organizations.ts'
import { createApi, updateApi } from '../../src/permissions/apis.ts'
import { createAppRole } from '../../src/permissions/app-roles.ts'
import { addGroupMembers, createGroup } from '../../src/permissions/groups.ts'
import { setUserAppRoles } from '../../src/permissions/role-assignments.ts'
import { lockUser, unlockUser } from '../../src/users/users.ts'
import { noBrowser } from '../support/browser.ts'
import {
  assertAccessible,
  test as base,
  openScreen,
  prepareConsole,
  readRows,
  SHOWN,
} from '../support/console-journey.ts'

/** `test` with an API, a role and groups of their own, and the paths of their screens. */
const test = base.extend('paths', async ({ acme, newPerson }) => {
  const ctx = createPlatformCtx(acme)
  const person = await newPerson({ name: 'Grace Hopper' })
  const permissions = ['orders:read', 'orders:write', 'customers:read'].map((name) => ({
    name,
    description: `May ${name.replace(':', ' ')}`,
    translations: [{ locale: 'de', description: 'Darf das' }],
  }))
  const identifier = `urn:${person.id}`
  const api = await createApi(ctx, { identifier, name: 'Orders', permissions })
  const role = await createAppRole(ctx, {
    name: person.id,
    description: 'Enters orders',
    assignableTo: ['user', 'member'],
    permissions: permissions.map(({ name }) => ({ apiId: api.id, name })),
  })
  const group = await createGroup(ctx, { name: person.id, description: 'Everybody who sells' })
  await createGroup(ctx, { name: `Field sales of ${person.id}`, parentId: group.id })
  await setUserAppRoles(ctx, person.id, { appRoleIds: [role.id] })
  await addGroupMembers(ctx, group.id, { userIds: [person.id] })
  return [
    '/apis',
    `/apis/${api.id}`,
    '/app-roles',
    `/app-roles/${role.id}`,
    '/groups',
    `/groups/${group.id}`,
    `/users/${person.id}?tab=permissions`,
  ]
})

test.beforeAll(({ ctx }) => prepareConsole({ ctx }))

describe.skipIf(noBrowser)('the permissions of the console', { timeout: 60_000 }, () => {
  test('declares an API and a role, and gives the role to a group whose member then has the permission', async ({
    acme,
    newPerson,
    openConsole,
  }) => {
    const ctx = createPlatformCtx(acme)
    const person = await newPerson({ name: 'Grace Hopper' })
    const { page, errors } = await openConsole('admin', '/apis')
    await page.getByRole('button', { name: 'New API' }).click()
    await page.getByLabel('Name').fill('Shop')
    await page.getByLabel('Identifier').fill('not a URI')
    await page.keyboard.press('Enter')
    await page.locator('.field-problem').waitFor(SHOWN)
    await page.getByLabel('Identifier').fill('https://api.shop.example')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Shop', exact: true }).waitFor(SHOWN)
    for (const [name, words] of [
      ['orders:read', 'Read orders'],
      ['orders write', 'Change orders'],
    ]) {
      await page.getByRole('button', { name: 'Add a permission' }).click()
      await page
        .getByLabel('Permission', { exact: true })
        .last()
        .fill(name as string)
      await page
        .locator('.permission')
        .last()
        .getByLabel('Description')
        .fill(words as string)
    }
    await page.locator('.permission').first().getByLabel('In other languages').fill('de: Bestellungen lesen')
    await page.getByLabel('Lifetime of access tokens (seconds)').fill('10')
    await page.getByRole('button', { name: 'Save 2 changes' }).click()
    await page.locator('.permission').last().locator('.field-problem').waitFor(SHOWN)
    await page.getByLabel('Lifetime of access tokens (seconds)').fill('600')
    await page.getByLabel('Permission', { exact: true }).last().fill('orders:write')
    await page.keyboard.press('Enter')
    await page.getByText('The API is saved.').waitFor(SHOWN)
    const api = await page.locator('.screen-head code').textContent()
    const apiPath = page.url()

    await page.getByRole('link', { name: 'Roles at APIs', exact: true }).click()
    await page.getByRole('button', { name: 'New role' }).click()
    await page.getByLabel('Name').fill('clerk')
    await page.getByRole('button', { name: 'Create role' }).dblclick()
    await page.getByRole('heading', { name: 'clerk', exact: true }).waitFor(SHOWN)
    await page.getByLabel('orders:read').check()
    await page.getByLabel('orders:write').check()
    await page.keyboard.press('Enter')
    await page.getByText('The role is saved.').waitFor(SHOWN)
    await page.getByText('Nobody has this role.').waitFor(SHOWN)
    const rolePath = page.url()

    await page.getByRole('link', { name: 'Groups', exact: true }).click()
    await page.getByRole('button', { name: 'New group' }).click()
    await page.getByLabel('Name').fill('Order desk')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Order desk', exact: true }).waitFor(SHOWN)
    const outer = page.url()
    await page.getByRole('button', { name: 'Change the roles at APIs of Order desk' }).click()
    await page.getByRole('dialog').getByLabel('clerk').check()
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'clerk' }).waitFor(SHOWN)
    await page.getByRole('button', { name: 'New nested group' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Night shift')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Night shift', exact: true }).waitFor(SHOWN)
    await page.getByText('By Order desk: clerk').waitFor(SHOWN)
    await page.getByLabel('Add a member by e-mail address').fill('nobody@example.com')
    await page.keyboard.press('Enter')
    await page.getByText('No user has this address.').waitFor(SHOWN)
    await page.getByLabel('Add a member by e-mail address').fill(` ${person.email} `)
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'Grace Hopper' }).waitFor(SHOWN)
    expect(await page.getByLabel('Add a member by e-mail address').inputValue()).toBe('')
    // A group is not nested in one that is nested in it.
    await page.goto(outer)
    await page.getByLabel('Nested in').selectOption({ label: 'Night shift' })
    await page.getByRole('button', { name: 'Save 1 change' }).click()
    await page.locator('.field-problem').getByText('nested in it').waitFor(SHOWN)
    await page.getByRole('button', { name: 'Discard' }).click()
    await page.getByRole('link', { name: 'Groups', exact: true }).click()
    await expect.poll(() => readRows(page), SHOWN).toEqual(['Order desk', 'nested:\nNight shift'])

    // The permission, with how the person gets it, follows changes of the role.
    await openScreen(page, `/users/${person.id}?tab=permissions`)
    await page.getByRole('button', { name: 'How the user gets orders:write' }).click()
    await page.getByRole('link', { name: 'by the group Order desk' }).waitFor(SHOWN)
    await page.getByRole('button', { name: 'Change the roles at APIs of Grace Hopper' }).click()
    await page.getByRole('dialog').getByLabel('clerk').check()
    await page.keyboard.press('Enter')
    await page.locator('.held').getByRole('link', { name: 'clerk' }).waitFor(SHOWN)
    await page.goto(rolePath)
    await page.getByText('Held by (2)').waitFor(SHOWN)
    await page.getByRole('link', { name: 'Grace Hopper' }).click()
    await page.getByRole('heading', { name: 'https://api.shop.example' }).waitFor(SHOWN)

    // Removing a permission says what follows, and what somebody else saved is not overwritten.
    const other = await openConsole('admin', apiPath.slice(apiPath.indexOf('/apis')))
    await other.page.getByLabel('Permission', { exact: true }).selectOption('orders:write')
    const holders = other.page.getByRole('list', { name: 'Who can?' })
    await holders.getByRole('button', { name: 'How Grace Hopper gets orders:write' }).click()
    await holders.getByRole('link', { name: 'by the group Order desk' }).waitFor(SHOWN)
    await other.page.getByLabel('Ask about one person').fill(person.email)
    await other.page.keyboard.press('Enter')
    const answer = other.page.getByRole('list', { name: 'The person' })
    await answer.getByText('held directly').waitFor(SHOWN)
    await lockUser(ctx, person.id)
    await answer.getByText('No: the user is locked.').waitFor(SHOWN)
    await other.page.getByText('Nobody has this permission.').waitFor(SHOWN)
    await unlockUser(ctx, person.id)
    await holders.getByRole('link', { name: 'Grace Hopper' }).waitFor(SHOWN)
    await other.page.getByRole('button', { name: 'Remove orders:write' }).click()
    await other.page.getByText('every role that has it loses it').waitFor(SHOWN)
    await updateApi(ctx, api as string, { name: 'Shop of Acme' })
    await other.page.getByRole('heading', { name: 'Shop of Acme' }).waitFor(SHOWN)
    await other.page.getByText('Somebody else has changed Name meanwhile.').waitFor(SHOWN)
    await other.page.getByRole('button', { name: 'Keep orders:write' }).click()
    expect(await other.page.getByRole('button', { name: /^Save/ }).count()).toBe(0)
    await other.page.getByRole('button', { name: 'Remove orders:write' }).click()
    await other.page.getByRole('button', { name: 'Save 1 change' }).click()
    await other.page.getByText('The API is saved.').waitFor(SHOWN)
    await expect.poll(() => page.getByText('orders:write').count(), SHOWN).toBe(0)
    expect(await page.getByText('orders:read').count()).toBe(1)

    // Deletion asks for the name.
    await page.goto(rolePath)
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('textbox').fill('clerk')
    await page.keyboard.press('Enter')
    await page.getByText('There are no roles yet.').waitFor(SHOWN)
    await page.goBack()
    await page.getByRole('heading', { name: 'There is no such role' }).waitFor(SHOWN)
    expect([...errors, ...other.errors]).toEqual([])
  })

  test('maps claims with a preview, and gives roles and a key to a machine and to an organization', async ({
    acme,
    newClient,
    newPerson,
    openConsole,
  }) => {
    const ctx = createPlatformCtx(acme)
    const person = await newPerson({ name: 'Barbara Liskov' })
    const client = await newClient({ appType: 'web' })
    const machine = await newClient({ appType: 'machine', callbacks: [] })
    const organization = await createOrganization(ctx, { name: 'Bolt', slug: 'bolt' })
    await createMembership(ctx, organization.id, { userId: person.id })
    await createApi(ctx, { identifier: 'https://api.bolt.example', name: 'Bolt API' })
    await createAppRole(ctx, { name: 'keeper', assignableTo: ['client', 'member'] })
    const { page, errors } = await openConsole('admin', `/applications/${client.id}?tab=claims`)
    const template = page.getByRole('button', { name: 'Supabase, PostGraphile' })
    await template.click()
    await template.click()
    await page.getByRole('button', { name: 'Add a claim' }).click()
    await page.getByRole('link', { name: 'Overview' }).click()
    await page.getByRole('button', { name: 'Stay' }).click()
    expect(await page.locator('.mapping').count()).toBe(2)
    await page.getByLabel('Claim', { exact: true }).last().fill('sub')
    await page.getByRole('button', { name: 'Save 1 change' }).click()
    const problems = page.locator('.mapping').last().locator('.field-problem')
    await problems.getByText('is set by the service alone').waitFor(SHOWN)
    expect(await page.locator('.mapping').first().locator('.field-problem').count()).toBe(0)
    await page.getByRole('button', { name: 'Remove sub' }).click()
    await page.getByRole('button', { name: 'Save 1 change' }).click()
    await page.getByText('The claims are saved.').waitFor(SHOWN)
    await page.getByLabel('Person, by e-mail address').fill(person.email)
    await page.keyboard.press('Enter')
    const idToken = page.getByRole('region', { name: 'ID token' })
    await idToken.getByText('"role": "authenticated"').waitFor(SHOWN)
    await page.getByLabel('Text').fill('member')
    await page.keyboard.press('Enter')
    await idToken.getByText('"role": "member"').waitFor(SHOWN)
    await page.getByLabel('Organization', { exact: true }).selectOption({ label: 'Bolt' })
    await page.getByRole('region', { name: 'Access token' }).getByText('"org_slug": "bolt"').waitFor(SHOWN)
    await page.getByLabel('API', { exact: true }).fill('urn:unknown')
    await page.getByRole('alert').waitFor(SHOWN)
    await page.getByLabel('API', { exact: true }).fill('')
    await idToken.getByText('"role": "member"').waitFor(SHOWN)
    await assertAccessible(page, '/application-claims')

    await openScreen(page, `/applications/${machine.id}?tab=roles`)
    const giveKeeper = async (name: string) => {
      await page.getByRole('button', { name: `Change the roles at APIs of ${name}` }).click()
      await page.getByRole('dialog').getByLabel('keeper').check()
      await page.keyboard.press('Enter')
      await page.locator('.held').getByRole('link', { name: 'keeper' }).waitFor(SHOWN)
    }
    await giveKeeper(machine.name)
    await openScreen(page, `/organizations/${organization.id}`)
    await giveKeeper('Barbara Liskov')
    await page.getByRole('button', { name: 'Create a set-up link' }).click()
    await page.getByText('/organization-setup?token=').waitFor(SHOWN)
    await page.getByRole('button', { name: 'Create a key' }).click()
    await page.getByRole('textbox', { name: 'Name' }).last().fill('Import')
    await page.getByLabel('Other APIs').fill('https://api.bolt.example')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('button', { name: 'I have stored it' }).click(SHOWN)
    await page.getByRole('rowheader', { name: 'Import' }).waitFor(SHOWN)
    await page.getByRole('button', { name: 'New group' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Buyers')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'Group of Bolt' }).waitFor(SHOWN)
    await giveKeeper('Buyers')
    await page.goBack()
    await page.getByRole('link', { name: 'Buyers' }).waitFor(SHOWN)
    await assertAccessible(page, '/organization-permissions')
    await page.getByRole('link', { name: 'keeper' }).first().click()
    await page.getByText('Held by (3)').waitFor(SHOWN)
    await page.getByText('member of Bolt').waitFor(SHOWN)
    // An error that a part of the screen shows is logged.
    expect(errors).toEqual([expect.stringContaining('resource: is not known in this tenant')])
  })

  test('shows an auditor everything and no action', async ({ paths, openConsole }) => {
    const { page, errors } = await openConsole('auditor')
    for (const path of paths) {
      await openScreen(page, path)
      const actions = page.locator('main button:not([title=Copy]):not(:disabled)')
      // Who has a permission, how and where, is read.
      const found = (await actions.allTextContents()).filter((text) => !/^(How\?|the tenant ▾)$/.test(text))
      expect([path, found]).toEqual([path, []])
    }
    expect(errors).toEqual([])
  })

  test('has no finding of axe, in both schemes and on a phone', async ({ paths, openConsole }) => {
    const { page, errors } = await openConsole('admin')
    for (const [index, path] of paths.entries()) {
      await openScreen(page, path)
      await assertAccessible(page, `/permissions-${index}`)
    }
    expect(errors).toEqual([])
  })
})
