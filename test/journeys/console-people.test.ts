import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { createIdentityProvider, getIdentityProvider } from '../../src/idps/idps.ts'
import { createMembership, updateMembership } from '../../src/organizations/memberships.ts'
import { createOrganizationDomain } from '../../src/organizations/organization-domains.ts'
import { createOrganization } from '../../src/organizations/organizations.ts'
import { createApi } from '../../src/permissions/apis.ts'
import { createAppRole } from '../../src/permissions/app-roles.ts'
import { getMembershipAppRoles } from '../../src/permissions/role-assignments.ts'
import { grantRole } from '../../src/users/roles.ts'
import { lockUser, updateUser } from '../../src/users/users.ts'
import { noBrowser, ORIGIN } from '../support/browser.ts'
import { assertAccessible, openScreen, prepareConsole, SHOWN, test } from '../support/console-journey.ts'
import { plantCredential } from '../support/credentials.ts'
import { dbFor } from '../support/database.ts'
import { publishRecord } from '../support/dns-server.ts'
import { fillCode } from '../support/fill-code.ts'
import { photograph } from '../support/journey.ts'

test.beforeAll(({ ctx }) => prepareConsole({ ctx }))

describe.skipIf(noBrowser)('the screen of an organization for its administrator', () => {
  test('has this organization alone, and ends with the right', async ({
    acme,
    ctx,
    newPerson,
    openConsole,
  }) => {
    const [{ id }, { id: otherId }] = [
      await createOrganization(ctx, { slug: 'managed', name: 'Managed Inc.' }),
      await createOrganization(ctx, { slug: 'rival', name: 'Rival Inc.' }),
    ]
    const role = await createAppRole(ctx, { name: 'clerk', assignableTo: ['member'] })
    const permissions = [{ name: 'orders:read', isAllowedInOrganizations: true }, { name: 'orders:write' }]
    await createApi(ctx, { identifier: 'urn:managed', name: 'Shop', permissions })
    await createIdentityProvider(ctx, { id: 'managed', type: 'oidc', name: 'Entra', organizationId: id })
    const grace = await newPerson({ name: 'Grace' })
    const { id: membershipId } = await createMembership(ctx, id, { userId: grace.id })
    const { page, person, errors } = await openConsole(null)
    const own = await createMembership(ctx, id, { userId: person.id, isAdministrator: true })
    await page.goto(`${ORIGIN}/${acme}/console/organizations/${id}`)
    await page.getByRole('heading', { level: 1, name: 'Managed Inc.' }).waitFor(SHOWN)
    await page.getByRole('group', { name: 'Grace' }).getByLabel('clerk').click()
    await expect.poll(() => getMembershipAppRoles(ctx, membershipId)).toMatchObject([{ id: role.id }])
    await page.getByRole('button', { name: 'New own role' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name', { exact: true }).fill('night-desk')
    expect(await dialog.getByRole('checkbox').count()).toBe(1)
    await dialog.getByLabel('orders:read').check()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('group', { name: 'Grace' }).getByLabel('night-desk').click()
    await expect
      .poll(() => getMembershipAppRoles(ctx, membershipId))
      .toMatchObject([
        { id: role.id },
        { name: 'night-desk', organizationId: id, permissions: [{ name: 'orders:read' }] },
      ])
    await page.getByRole('region', { name: 'Entra' }).getByText('None is proven').waitFor(SHOWN)
    await page.getByRole('button', { name: 'Change the mapping' }).click()
    await dialog.getByRole('textbox', { name: 'Claim' }).fill('groups')
    await dialog.getByRole('button', { name: 'Add a value' }).click()
    await dialog.getByRole('textbox', { name: 'Value' }).fill('clerks')
    await dialog.getByLabel('Role', { exact: true }).selectOption({ label: 'clerk' })
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('These values of groups give roles: clerks').waitFor(SHOWN)
    expect(await getIdentityProvider(ctx, 'managed')).toMatchObject({
      roleClaim: 'groups',
      claimRoles: [{ value: 'clerks', appRoleId: role.id }],
    })
    await dbFor(acme).membershipAppRole.updateMany({
      where: { tenantId: acme, membershipId, roleId: role.id },
      data: { idpId: 'managed' },
    })
    await page.reload()
    await page.getByText('from Entra').waitFor(SHOWN)
    await page.getByLabel('Add a domain of e-mail addresses').fill('managed.example')
    await page.getByRole('button', { name: 'Add domain' }).click()
    await page.getByText('_vestibule-challenge.managed.example').waitFor(SHOWN)
    await page.getByLabel('E-mail address', { exact: true }).fill('new@managed.example')
    await page.getByRole('button', { name: 'Invite' }).click()
    await page.getByText('pending').waitFor(SHOWN)
    await page.getByLabel('Name', { exact: true }).fill('Managed Ltd.')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { level: 1, name: 'Managed Ltd.' }).waitFor(SHOWN)
    await page.getByRole('button', { name: 'Create a webhook' }).click()
    await dialog.getByLabel('URL').fill('https://hooks.managed.example')
    await dialog.getByRole('button', { name: 'Create', exact: true }).click()
    await dialog.getByRole('button', { name: 'I have stored it' }).click()
    await assertAccessible(page, '/managed-organization')
    await page.getByRole('link', { name: 'https://hooks.managed.example' }).click()
    await page.getByRole('button', { name: 'Send a test' }).click()
    await page.locator('summary', { hasText: 'webhook.test' }).waitFor(SHOWN)
    expect(errors).toEqual([])
    await page.goto(`${ORIGIN}/${acme}/console/organizations/${otherId}`)
    await page.getByRole('alert').waitFor(SHOWN)
    await page.goto(`${ORIGIN}/${acme}/console/organizations/${id}`)
    await page.getByRole('heading', { level: 1, name: 'Managed Ltd.' }).waitFor(SHOWN)
    for (const what of ['A webhook was created', 'A domain was added', 'Got the roles at APIs night-desk'])
      await page.getByText(what).waitFor(SHOWN)
    await updateMembership(ctx, own.id, { isAdministrator: false })
    await page.goto(`${ORIGIN}/${acme}/console/organizations/${id}`)
    await page.getByRole('heading', { name: 'You may not see this' }).waitFor(SHOWN)
  })
})

describe.skipIf(noBrowser)('the screen of a user', () => {
  test('lets two administrators settle a conflict field by field', async ({
    acme,
    newPerson,
    openConsole,
  }) => {
    const grace = await newPerson({ name: 'Grace' })
    const { page, errors } = await openConsole('admin', `/users/${grace.id}?tab=profile`)
    await page.getByLabel('Display name').fill('Grace Hopper')
    await page.getByLabel('Nickname').fill('Amazing Grace')
    await updateUser(createPlatformCtx(acme), grace.id, {
      name: 'Rear Admiral Hopper',
      website: 'https://grace.example',
    })
    const conflict = page.getByRole('alert', { name: 'Conflict' })
    await conflict.getByLabel(/Theirs: Rear Admiral Hopper/).waitFor(SHOWN)
    expect(await page.getByText('Somebody else has changed Website meanwhile.').count()).toBe(1)
    expect(await page.getByRole('button', { name: 'Save again' }).isDisabled()).toBe(true)
    await conflict.getByLabel(/Mine: Grace Hopper/).check()
    await photograph(page, 'console-user-conflict')
    await page.route('**/graphql', async (route) => {
      if (route.request().postData()?.includes('userProfileSaveMutation'))
        await page.getByLabel('Nickname').fill('Typed meanwhile')
      await route.continue()
    })
    await page.getByRole('button', { name: 'Save again' }).click()
    await page.getByText('The profile is saved.').waitFor()
    expect(await page.getByLabel('Nickname').inputValue()).toBe('Typed meanwhile')
    expect(await conflict.count()).toBe(0)
    await page.getByRole('button', { name: 'Discard' }).click()
    await page.getByRole('heading', { name: 'Grace Hopper' }).waitFor()
    expect(await page.getByLabel('Nickname').inputValue()).toBe('Amazing Grace')
    expect(await page.getByLabel('Website').inputValue()).toBe('https://grace.example')
    expect(errors).toEqual([])
  })

  test('names the line of metadata that is not JSON, and keeps what was entered', async ({
    newPerson,
    openConsole,
  }) => {
    const { id } = await newPerson({ name: 'Grace' })
    const { page } = await openConsole('admin', `/users/${id}?tab=profile`)
    const metadata = page.getByLabel(/App metadata/)
    await metadata.fill('{\n  "plan": "pro",\n  "seats": \n}')
    await page.getByText(/^Line 4: /).waitFor()
    expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true)
    await metadata.fill('{"plan": "pro"}')
    await page.getByLabel('Email address', { exact: true }).fill('no address')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.locator('.field-problem').waitFor()
    expect(await page.getByLabel('Email address', { exact: true }).inputValue()).toBe('no address')
    await page.getByRole('link', { name: 'Overview' }).click()
    await page.getByText('What happened').waitFor()
    await page.goBack()
    await metadata.waitFor()
    expect(await metadata.inputValue()).toBe('{"plan": "pro"}')
  })

  test('says in words why a sign-in failed, as it happens', async ({
    acme,
    newPerson,
    open,
    openConsole,
  }) => {
    const grace = await newPerson({ name: 'Grace' })
    const { page } = await openConsole('support', `/users/${grace.id}`)
    await page.getByText('user.created').waitFor()
    const hers = await (await open()).newPage()
    await hers.goto(`${ORIGIN}/${acme}/console`)
    await hers.getByLabel('Email address or phone number').fill(grace.email)
    await hers.keyboard.press('Enter')
    await fillCode(hers, '000000')
    await page
      .getByText('A sign-in by a code that was sent by email failed: the code was wrong')
      .waitFor(SHOWN)
    await lockUser(createPlatformCtx(acme), grace.id)
    await page.getByText(/^Locked since/).waitFor(SHOWN)
    await photograph(page, 'console-user-reasons')
    await page.getByRole('link', { name: 'Events' }).click()
    await page.getByRole('link', { name: 'Sign-in attempts' }).click()
    await expect.poll(() => page.locator('.events').textContent(), SHOWN).not.toContain('user.created')
    expect(page.url()).toContain('tab=events&only=attempts')
    expect(await page.locator('.events').textContent()).toContain('A code was sent by email')
  })

  test('ends sessions, and revokes a passkey and a consent, which are gone at once', async ({
    acme,
    newPerson,
    openConsole,
    signIn,
    spa,
  }) => {
    const grace = await newPerson({ name: 'Grace' })
    await signIn(grace.email, { client: spa })
    await plantCredential(acme, grace.id)
    const { page, errors } = await openConsole('admin', `/users/${grace.id}`)
    await page.getByRole('button', { name: 'End all sessions', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'End all sessions' }).click()
    await page.getByText('No session.').waitFor(SHOWN)
    await page.getByRole('navigation', { name: 'Of the user' }).getByText('Sign-in').click()
    const passkeys = page.locator('.card', { hasText: 'Passkeys and second factors' })
    await passkeys.getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('Passkey is revoked.').waitFor()
    await passkeys.getByText('None. The user signs in by codes.').waitFor(SHOWN)
    const consents = page.locator('.card', { hasText: 'Consents' })
    await consents.getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await consents.getByText('The user has agreed to share nothing.').waitFor(SHOWN)
    await page.getByRole('button', { name: 'Recovery link' }).click()
    await page.getByRole('button', { name: 'Show it here' }).click()
    await page
      .getByRole('dialog')
      .getByText(/\/enroll/)
      .waitFor()
    expect(errors).toEqual([])
  })

  test('shows roles what they permit, and deletes by name with the keyboard alone', async ({
    acme,
    newPerson,
    openConsole,
    person,
  }) => {
    const { page: auditor } = await openConsole('auditor', `/users/${person.id}?tab=profile`)
    await auditor.getByText('You may not change this user.').waitFor()
    expect(await auditor.getByLabel('Display name').isDisabled()).toBe(true)
    const admin = await newPerson({ name: 'Boss' })
    await grantRole(createPlatformCtx(acme), admin.email, 'admin')
    const grace = await newPerson({ name: 'Grace' })
    const { page } = await openConsole('support', `/users/${admin.id}`)
    await page.getByRole('heading', { name: 'Boss' }).waitFor()
    expect(await page.getByRole('button', { name: /Lock|Delete|roles/ }).count()).toBe(0)
    await openScreen(page, `/users/${grace.id}`)
    await page.getByRole('button', { name: 'Delete' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').getByLabel('Type “Grace” to confirm').focus()
    await page.keyboard.type('Grac')
    await page.keyboard.press('Enter')
    expect(await page.getByRole('dialog').count()).toBe(1)
    await page.keyboard.type('e')
    await page.keyboard.press('Enter')
    await page.getByText('Grace is deleted.').waitFor()
    expect(new URL(page.url()).pathname).toBe(`/${acme}/console/users`)
  })
})

describe.skipIf(noBrowser)('the screens about people', () => {
  test('create a user once, with the problem beside its field', async ({
    acme,
    openConsole,
    email,
    person,
  }) => {
    const { page } = await openConsole('admin', '/users')
    await page.getByRole('link', { name: 'New user' }).click()
    await page.getByLabel('Display name').fill('Newcomer')
    await page.getByLabel('Email address', { exact: true }).fill(person.email)
    await page.getByRole('button', { name: 'Create user' }).click()
    await page.locator('.field', { hasText: 'Email address' }).locator('.field-problem').waitFor()
    await page.getByLabel('Email address', { exact: true }).fill(email('newcomer'))
    await page.getByRole('button', { name: 'Create user' }).dblclick()
    await page.getByRole('heading', { name: 'Newcomer' }).waitFor()
    expect(await dbFor(acme).user.count({ where: { tenantId: acme, name: 'Newcomer' } })).toBe(1)
  })

  test('invite ten people at once, of whom one has an invalid address', async ({
    acme,
    email,
    openConsole,
  }) => {
    const before = await dbFor(acme).invitation.count({ where: { tenantId: acme } })
    const { page, errors } = await openConsole('admin', '/invitations')
    await page.getByRole('button', { name: 'Invite people' }).click()
    const people = Array.from({ length: 9 }, (_, index) => email(`guest${index}`))
    await page
      .getByLabel('E-mail addresses')
      .fill(
        [`Grace Hopper <${people[0]}>`, `${people[1]}, ${people[2]}`, 'no address', ...people.slice(3)].join(
          '\n',
        ),
      )
    await page.getByLabel('auditor').check()
    await page.getByRole('button', { name: 'Invite 10 people' }).click()
    await page.getByText('9 invited. One is not').waitFor(SHOWN)
    expect(await page.getByLabel('E-mail addresses').inputValue()).toBe('no address')
    await photograph(page, 'console-invite')
    expect(await page.locator('.results').textContent()).toContain('must be an e-mail address')
    await page.getByLabel('E-mail addresses').fill(email('guest9'))
    await page.getByRole('button', { name: 'Invite 1 person' }).click()
    await page.getByText('1 invited.').waitFor(SHOWN)
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByText(`${before + 10} invitations`).waitFor(SHOWN)
    const first = page.locator('.invitations tbody tr').first()
    expect(await first.textContent()).toContain(email('guest9'))
    await first.getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await first.getByText('revoked').waitFor(SHOWN)
    await photograph(page, 'console-invitations')
    // Earlier ones, so that the list has two pages: a change keeps what is loaded.
    const sentAt = new Date(Date.now() - 60_000)
    await dbFor(acme).invitation.createMany({
      data: Array.from({ length: 60 }, (_, index) => ({
        tenantId: acme,
        id: `inv_0${String(index).padStart(30, '0')}`,
        email: email(`early${index}`),
        emailKey: email(`early${index}`),
        revoked: true,
        sentAt,
        expiresAt: sentAt,
      })),
    })
    await page.reload()
    await page.getByText(`${before + 70} invitations`).waitFor(SHOWN)
    const rows = page.locator('.invitations tbody tr')
    await rows.nth(49).waitFor()
    await rows.last().scrollIntoViewIfNeeded()
    await expect.poll(() => rows.count(), SHOWN).toBe(before + 70)
    await rows.nth(1).getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await rows.nth(1).getByText('revoked').waitFor(SHOWN)
    expect(await rows.count()).toBe(before + 70)
    expect(errors).toEqual([])
  })

  test('give and take roles, which other administrators see at once', async ({ newPerson, openConsole }) => {
    const grace = await newPerson({ name: 'Grace' })
    const [admin, support] = [await openConsole('admin', '/roles'), await openConsole('support', '/roles')]
    const card = admin.page.getByRole('region', { name: 'auditor' })
    await card.getByLabel(/^Give auditor/).fill(grace.email)
    await admin.page.keyboard.press('Enter')
    await card.getByRole('link', { name: 'Grace' }).waitFor(SHOWN)
    const seen = support.page.getByRole('region', { name: 'auditor' })
    await seen.getByRole('link', { name: 'Grace' }).waitFor(SHOWN)
    expect(await seen.getByRole('button').count()).toBe(0)
    await card.locator('li', { hasText: 'Grace' }).getByRole('button', { name: 'Take' }).click()
    await admin.page.getByRole('dialog').getByRole('button', { name: 'Take' }).click()
    await expect.poll(() => seen.getByRole('link', { name: 'Grace' }).count(), SHOWN).toBe(0)
    await card.getByLabel(/^Give auditor/).fill('nobody@example.com')
    await admin.page.keyboard.press('Enter')
    await card.getByText('No user has this address.').waitFor()
    await admin.page.getByRole('button', { name: 'New role' }).click()
    const dialog = admin.page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('partner')
    await dialog.getByLabel('read users', { exact: true }).check()
    await assertAccessible(admin.page, 'a new role')
    await dialog.getByRole('button', { name: 'Create role' }).click()
    const own = admin.page.getByRole('region', { name: 'partner' })
    await own.getByText('Permits 1 scopes').waitFor(SHOWN)
    await support.page.getByRole('region', { name: 'partner' }).waitFor(SHOWN)
    await own.getByLabel(/^Give partner/).fill(grace.email)
    await admin.page.keyboard.press('Enter')
    await admin.page.getByText('Grace is partner now.').waitFor(SHOWN)
    await own.getByRole('button', { name: 'Change' }).click()
    await dialog.getByLabel(/^create, change, lock/).check()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await own.getByText('Permits 2 scopes').waitFor(SHOWN)
    await own.getByRole('button', { name: 'Delete' }).click()
    await dialog.getByRole('textbox').fill('partner')
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await dialog.getByText('Users hold this role.').waitFor(SHOWN)
    expect([...admin.errors, ...support.errors]).toEqual([])
  })

  test('save a profile for support, who may not read the metadata of applications', async ({
    acme,
    newPerson,
    openConsole,
  }) => {
    const { id } = await newPerson({ name: 'Supported' })
    const { page } = await openConsole('support', `/users/${id}?tab=profile`)
    await page.getByLabel('Display name').fill('Supported by phone')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Supported by phone' }).waitFor(SHOWN)
    expect(await page.getByRole('alert').count()).toBe(0)
    // Others change the user while the server cannot be reached: the screen and what is typed stay.
    await page.getByLabel('Display name').fill('Typed')
    await page.route(`${ORIGIN}/${acme}/graphql`, (route) => route.abort('connectionfailed'))
    await updateUser(createPlatformCtx(acme), id, { nickname: 'Sup' })
    await page.getByText('The screen is not up to date').first().waitFor(SHOWN)
    expect(await page.getByLabel('Display name').inputValue()).toBe('Typed')
  })

  test('create an organization, add a user, invite another person and prove a domain', async ({
    email,
    newPerson,
    openConsole,
  }) => {
    const person = await newPerson({ name: 'Grace' })
    const { page, errors } = await openConsole('admin', '/organizations')
    await page.getByRole('button', { name: 'New organization' }).click()
    await page.getByLabel('Name').fill('Initech')
    await page.getByLabel('Slug').fill('Not a slug')
    await page.getByRole('button', { name: 'Create organization' }).click()
    await page.getByText('must be lower-case letters').waitFor(SHOWN)
    await page.getByLabel('Slug').fill('initech')
    await page.getByRole('button', { name: 'Create organization' }).click()
    await page.getByRole('heading', { name: 'Initech', level: 1 }).waitFor(SHOWN)
    for (const [address, shown] of [
      [person.email, 'Members (1)'],
      [email('joiner'), 'is invited by a mail'],
    ] as const) {
      await page.getByLabel('Add a member by e-mail address').fill(address)
      await page.getByRole('button', { name: 'Add member' }).click()
      await page.getByText(shown).waitFor(SHOWN)
    }
    await page.getByText('membership.created').waitFor(SHOWN)
    await page.getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await page.getByText('Nobody is a member yet.').waitFor(SHOWN)
    await page.getByLabel('Add a domain of e-mail addresses').fill('Initech.test')
    await page.getByRole('button', { name: 'Add domain' }).click()
    const domain = page.getByRole('region', { name: 'initech.test' })
    await domain.getByRole('button', { name: 'Check now' }).click()
    await domain.getByText('The last check found no TXT record').waitFor(SHOWN)
    const [recordName = '', recordValue = ''] = await domain.locator('code').allTextContents()
    publishRecord({ recordName, recordValue })
    await domain.getByRole('button', { name: 'Check now' }).click()
    await domain.getByText('proven', { exact: true }).waitFor(SHOWN)
    await domain.getByRole('checkbox').click()
    await page.getByText('organization_domain.updated').waitFor(SHOWN)
    await page.getByLabel('Hours until a new sign-in').fill('12')
    await page.getByRole('button', { name: 'Apply the rules' }).click()
    await page.getByText('organization.updated').first().waitFor(SHOWN)
    expect(errors).toEqual([])
  })

  test('are one request each, and have no finding of axe, in both schemes and on a phone', async ({
    acme,
    newPerson,
    openConsole,
  }) => {
    const { id } = await newPerson({ name: 'Grace' })
    await lockUser(createPlatformCtx(acme), id)
    const organization = await createOrganization(createPlatformCtx(acme), { name: 'Globex', slug: 'globex' })
    await createMembership(createPlatformCtx(acme), organization.id, { userId: id })
    await createOrganizationDomain(createPlatformCtx(acme), organization.id, { domain: 'globex.example' })
    await createIdentityProvider(createPlatformCtx(acme), {
      id: 'globex',
      type: 'oidc',
      name: 'Globex Entra',
      organizationId: organization.id,
    })
    const { page, errors } = await openConsole('admin')
    let requests = 0
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/graphql')) requests++
    })
    for (const path of [
      `/users/${id}`,
      `/users/${id}?tab=profile`,
      `/users/${id}?tab=sign-in`,
      `/users/${id}?tab=events`,
      '/users/new',
      '/invitations',
      '/organizations',
      `/organizations/${organization.id}`,
      '/roles',
    ]) {
      requests = 0
      await openScreen(page, path)
      await assertAccessible(page, path.replace(id, 'user').replace(organization.id, 'organization'))
      // A new user needs nothing.
      expect([path, requests]).toEqual([path, path === '/users/new' ? 0 : 1])
    }
    requests = 0
    await page.reload()
    await page.getByRole('heading', { level: 1 }).waitFor()
    await expect.poll(() => requests, SHOWN).toBe(2)
    expect(errors).toEqual([])
  })
})
