import { describe, expect } from 'vitest'
import type { Scope } from '../../src/core/scopes.ts'
import { createInvitation, resendInvitation, revokeInvitation } from '../../src/invitations/invitations.ts'
import { listUserMemberships, updateMembership } from '../../src/organizations/memberships.ts'
import { createOrganization, deleteOrganization } from '../../src/organizations/organizations.ts'
import { createAppRole } from '../../src/permissions/app-roles.ts'
import { getMembershipAppRoles } from '../../src/permissions/role-assignments.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { createUser, lockUser, unlockUser } from '../../src/users/users.ts'
import { ctxFor, newTenant } from '../support/actors.ts'
import { dbFor } from '../support/database.ts'
import { test } from '../support/invitations.ts'
import { newAdministrator } from '../support/organization-administrators.ts'
import { csrfIn, type PageBrowser } from '../support/page-browser.ts'
import { repeatForm } from '../support/repeated-forms.ts'

const ADA = { step: 'accept', name: 'Ada' }
const GONE = 'This invitation no longer works'

describe('an invitation', () => {
  test('creates a user with the verified address and the roles, signs in, and leads to a passkey', async ({
    tenant,
    browser,
    guest,
    events,
    invite,
    linkFor,
    openLink,
    findUsers,
    findSessions,
  }) => {
    const { id } = await invite({ roles: ['support'], name: 'Ada Lovelace', locale: 'de-at' })
    const page = await openLink(await linkFor(guest))
    expect(page.html).toContain('<h1>You are invited</h1>')
    expect(page.html).toContain('value="Ada Lovelace"')
    expect(page.html).toContain(guest)
    const { path, response } = await browser.submit(page, ADA)
    expect(path).toMatch(new RegExp(`^/${tenant}/enroll\\?token=`))
    const enrollment = await response.text()
    expect(enrollment).toContain('Create your passkey')
    expect(enrollment).toContain('Not now')
    const [user] = await findUsers(guest)
    expect(user).toMatchObject({ name: 'Ada', locale: 'de-AT', emailVerified: true, roles: ['support'] })
    expect(await findSessions(user?.id)).toMatchObject([{ kind: 'browser', endedAt: null }])
    expect(browser.sessionToken).toMatch(/./)
    const log = (await events()).filter(
      ({ userId, subjectIds }) => userId === user?.id || subjectIds.includes(id),
    )
    expect(log.map(({ type, detail, actorUserId }) => [type, detail, actorUserId === user?.id])).toEqual([
      ['invitation.created', { roles: 'support' }, false],
      ['user.created', { origin: 'invitation' }, true],
      ['role.changed', { roles: 'support' }, true],
      ['invitation.accepted', null, true],
      ['session.started', { kind: 'browser', method: 'passcode' }, true],
      ['credential.enrollment_created', { channel: null }, true],
    ])
  })

  test('to an organization makes the person a member, once, and needs the scope to do so', async ({
    ctx,
    browser,
    guest,
    invite,
    linkFor,
    openLink,
    findUsers,
  }) => {
    const organization = await createOrganization(ctx, { name: 'Acme', slug: 'invited' })
    const organizationId = organization.id
    const limited = { ...ctx, scopes: new Set<Scope>(['users:read', 'users:write']) }
    await expect(createInvitation(limited, { email: guest, organizationId })).rejects.toThrow(
      'organizations:write',
    )
    const { id } = await invite({ organizationId })
    await expect(resendInvitation(limited, id, {})).rejects.toThrow('organizations:write')
    await browser.submit(await openLink(await linkFor(guest)), ADA)
    const [user] = await findUsers(guest)
    const { rows } = await listUserMemberships(ctx, user?.id ?? '', {})
    expect(rows).toMatchObject([
      {
        organizationId,
        joinedVia: 'invitation',
        addedBy: ctx.actor.kind === 'client' ? ctx.actor.clientId : null,
      },
    ])
  })

  test('of an administrator of the organization gives roles and the right, and ends with the right of the sender', async ({
    ctx,
    tenant,
    rest,
    guest,
    newBrowser,
    linkFor,
    openLink,
    findUsers,
    email,
  }) => {
    const { id: organizationId } = await createOrganization(ctx, { name: 'Acme', slug: 'managed' })
    const role = await createAppRole(ctx, { name: 'clerk', assignableTo: ['member'] })
    const { token, userId, ownMembershipId } = await newAdministrator(tenant, organizationId)
    const ally = email('ally')
    for (const address of [guest, ally]) {
      const body = { email: address, organizationId, appRoleIds: [role.id], isAdministrator: true }
      expect((await rest('POST', '/invitations', body, { token })).status).toBe(201)
    }
    const browser = newBrowser()
    await browser.submit(await openLink(await linkFor(guest), browser), ADA)
    const [user] = await findUsers(guest)
    const { rows } = await listUserMemberships(ctx, user?.id ?? '', {})
    expect(rows).toMatchObject([{ organizationId, isAdministrator: true }])
    expect(await getMembershipAppRoles(ctx, rows[0]?.id ?? '')).toMatchObject([{ id: role.id }])
    await lockUser(ctx, userId)
    expect((await openLink(await linkFor(ally))).html).toContain(GONE)
    await unlockUser(ctx, userId)
    const other = newBrowser()
    const page = await openLink(await linkFor(ally), other)
    await updateMembership(ctx, ownMembershipId, { isAdministrator: false })
    expect(await (await other.submit(page, ADA)).response.text()).toContain(GONE)
    expect((await openLink(await linkFor(ally))).html).toContain(GONE)
    expect(await findUsers(ally)).toEqual([])
  })

  test('to an organization ends with it', async ({ ctx, guest, invite, linkFor, openLink }) => {
    const { id } = await createOrganization(ctx, { name: 'Gone', slug: 'gone' })
    await invite({ organizationId: id })
    await deleteOrganization(ctx, id)
    expect((await openLink(await linkFor(guest))).html).toContain(GONE)
  })

  test('changes nothing when its link is opened, as mail programs do', async ({
    guest,
    newBrowser,
    invite,
    linkFor,
    openLink,
    findUsers,
  }) => {
    await invite()
    const path = await linkFor(guest)
    for (let visit = 0; visit < 3; visit++)
      expect((await openLink(path, newBrowser())).html).toContain('You are invited')
    expect((await newBrowser().fetch(path, { method: 'HEAD' })).status).toBeLessThan(500)
    expect(await findUsers(guest)).toEqual([])
  })

  test('gives an existing user the roles without a session', async ({
    ctx,
    tenant,
    browser,
    guest,
    events,
    invite,
    linkFor,
    openLink,
    findUsers,
    findSessions,
  }) => {
    const user = await createUser(ctx, { email: guest, emailVerified: true, name: 'Grace' })
    await invite({ roles: ['auditor'] })
    const page = await openLink(await linkFor(guest))
    expect(page.html).not.toContain('name="name"')
    const { path, response } = await browser.submit(page, ADA)
    expect(path).toMatch(new RegExp(`^/${tenant}/invitation/accepted`))
    expect(await response.text()).toContain('You have accepted')
    expect(await findUsers(guest)).toMatchObject([{ id: user.id, name: 'Grace', roles: ['auditor'] }])
    expect(await findSessions(user.id)).toEqual([])
    expect(browser.sessionToken).toBeUndefined()
    const types = (await events()).filter(({ userId }) => userId === user.id).map(({ type }) => type)
    expect(types).toEqual(['user.created', 'role.changed', 'invitation.accepted'])
  })

  test('does not give roles to a user before the address is proven', async ({
    ctx,
    guest,
    invite,
    findUsers,
  }) => {
    await createUser(ctx, { email: guest })
    await invite({ roles: ['admin'] })
    expect(await findUsers(guest)).toMatchObject([{ roles: [], emailVerified: false }])
  })

  test('is not accepted by a locked user, or by one whose address is not the proven one', async ({
    ctx,
    email,
    browser,
    linkFor,
    openLink,
    findUsers,
  }) => {
    const locked = await createUser(ctx, { email: email('locked'), emailVerified: true })
    await lockUser(ctx, locked.id)
    const phone = { phoneNumber: '+436641234599', phoneNumberVerified: true }
    await createUser(ctx, { email: email('planted'), ...phone })
    for (const name of ['locked', 'planted']) {
      await createInvitation(ctx, { email: email(name), roles: ['admin'] })
      const { response } = await browser.submit(await openLink(await linkFor(email(name))), ADA)
      expect(response.status).toBe(400)
      expect(await response.text()).toContain('You cannot sign in with this address.')
      expect(await findUsers(email(name))).toMatchObject([{ roles: [] }])
    }
  })

  test('leads on to one account when its form is sent several times', async ({
    browser,
    guest,
    invite,
    linkFor,
    openLink,
    findUsers,
    findSessions,
  }) => {
    await invite()
    const { outcomes } = await repeatForm(browser, await openLink(await linkFor(guest)), ADA)
    expect(outcomes[0]?.location).toContain('/enroll?token=')
    for (const outcome of outcomes) expect(outcome).toEqual(outcomes[0])
    const users = await findUsers(guest)
    expect([users.length, (await findSessions(users[0]?.id)).length]).toEqual([1, 1])
  })

  test('works once, also when it is accepted 50 times at once', async ({
    guest,
    newBrowser,
    invite,
    linkFor,
    openLink,
    findUsers,
    findSessions,
  }) => {
    await invite({ roles: ['support'] })
    const path = await linkFor(guest)
    const pages: { by: PageBrowser; page: { html: string } }[] = []
    for (let visit = 0; visit < 5; visit++) {
      const by = newBrowser()
      pages.push({ by, page: await openLink(path, by) })
    }
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => {
        const { by, page } = pages[index % 5] as (typeof pages)[number]
        return by.post(path, { csrf: csrfIn(page.html), ...ADA })
      }),
    )
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 303)).toHaveLength(1)
    expect(new Set(statuses)).toEqual(new Set([303, 410]))
    const users = await findUsers(guest)
    expect(users).toHaveLength(1)
    expect(await findSessions(users[0]?.id)).toHaveLength(1)
    expect((await openLink(path, newBrowser())).html).toContain(GONE)
  })

  test('ends with one user when a caller creates the user at the same time', async ({
    ctx,
    email,
    newBrowser,
    linkFor,
    openLink,
    findUsers,
  }) => {
    for (let round = 0; round < 6; round++) {
      const [address, by] = [email(`racing${round}`), newBrowser()]
      await createInvitation(ctx, { email: address, roles: ['support'] })
      const page = await openLink(await linkFor(address), by)
      const [answer] = await Promise.all([
        by.post(page.path, { csrf: csrfIn(page.html), ...ADA }),
        createUser(ctx, { email: address }).catch(() => null),
      ])
      expect(answer.status).toBe(303)
      expect(await findUsers(address)).toMatchObject([{ emailVerified: true, roles: ['support'] }])
    }
  })

  test('does not work after it was revoked, replaced or has expired, or at another tenant', async ({
    ctx,
    tenant,
    email,
    browser,
    linkFor,
    openLink,
    findUsers,
  }) => {
    const open = async (name: string) => {
      const invitation = await createInvitation(ctx, { email: email(name) })
      return { invitation, page: await openLink(await linkFor(email(name))) }
    }
    const revoked = await open('revoked')
    await revokeInvitation(ctx, revoked.invitation.id)
    const resent = await open('resent')
    await resendInvitation(ctx, resent.invitation.id, {}, new Date(Date.now() + 31_000))
    const expired = await open('expired')
    await dbFor(tenant).invitation.update({
      where: { tenantId_id: { tenantId: tenant, id: expired.invitation.id } },
      data: { expiresAt: new Date(Date.now() - 1) },
    })
    for (const { page } of [revoked, resent, expired]) {
      const { response } = await browser.submit(page, ADA)
      expect(response.status).toBe(410)
      expect(await response.text()).toContain(GONE)
      expect((await openLink(page.path)).response.status).toBe(410)
    }
    for (const name of ['revoked', 'resent', 'expired']) expect(await findUsers(email(name))).toEqual([])
    const elsewhere = await open('elsewhere')
    const foreign = elsewhere.page.path.replace(tenant, await newTenant())
    expect((await openLink(foreign)).response.status).toBe(410)
    expect((await openLink(await linkFor(email('resent')))).html).toContain('You are invited')
  })

  test('is bound to the browser that opened the page', async ({
    guest,
    newBrowser,
    invite,
    linkFor,
    openLink,
    findUsers,
  }) => {
    await invite()
    const page = await openLink(await linkFor(guest), newBrowser())
    const other = newBrowser()
    expect((await other.submit(page, ADA)).response.status).toBe(403)
    await openLink(page.path, other)
    expect((await other.submit(page, ADA)).response.status).toBe(403)
    expect(await findUsers(guest)).toEqual([])
  })

  test('asks for the fields and terms of the tenant', async ({
    ctx,
    browser,
    guest,
    invite,
    linkFor,
    openLink,
    findUsers,
  }) => {
    await updateSettings(ctx, { termsUrl: 'https://acme.example/terms', termsVersion: '1' })
    await invite()
    const page = await openLink(await linkFor(guest))
    const wrong = await browser.submit(page, { step: 'accept', name: '', 'terms-version': '1' })
    expect(wrong.response.status).toBe(400)
    const html = await wrong.response.text()
    expect(html).toContain('Full name is required.')
    expect(html).toContain('Agree to the terms of use')
    await browser.submit(page, { ...ADA, 'terms-version': '1', terms: 'on' })
    expect(await findUsers(guest)).toMatchObject([{ name: 'Ada', termsVersion: '1' }])
    await updateSettings(ctx, { termsUrl: null, termsVersion: null })
  })

  test('keeps the account of another user in the browser, and continues to the client', async ({
    browser,
    person,
    guest,
    oidc,
    newClient,
    invite,
    linkFor,
    openLink,
    findUsers,
    findSessions,
  }) => {
    const client = await newClient({ name: 'Portal', initiateLoginUrl: 'https://rp.example.com/start' })
    await oidc.signIn(browser, person.email)
    await invite({ clientId: client.id })
    const { path } = await browser.submit(await openLink(await linkFor(guest)), ADA)
    expect(await findSessions(person.id)).toMatchObject([{ endReason: null }])
    expect(await findSessions((await findUsers(guest))[0]?.id)).toMatchObject([{ endReason: null }])
    const next = new URLSearchParams(path.split('?')[1]).get('next_client') ?? ''
    for (const last of ['enroll/done', 'invitation/accepted']) {
      const target = `${path.split('/').slice(0, 2).join('/')}/${last}`
      const { html } = await openLink(`${target}?${new URLSearchParams({ next_client: next })}`)
      expect(html).toContain('Portal')
      expect(html).toContain('/oidc/initiate?client_id=')
      // A link that somebody else made names no client.
      for (const made of [client.id, `${next.slice(0, -1)}${next.endsWith('A') ? 'E' : 'A'}`, 'none', '']) {
        const { html } = await openLink(`${target}?${new URLSearchParams({ next_client: made })}`)
        expect([html.includes('Portal'), html.includes('/oidc/initiate')]).toEqual([false, false])
      }
    }
  })

  test('is sent by a tenant without sign-up, and leaves its other strangers out', async ({
    ctx,
    guest,
    invite,
  }) => {
    await expect(invite()).resolves.toMatchObject({ status: 'pending', email: guest })
    const other = await ctxFor(await newTenant())
    await expect(revokeInvitation(other, (await invite()).id)).rejects.toMatchObject({ status: 404 })
    expect(ctx.tenant).not.toBe(other.tenant)
  })
})
