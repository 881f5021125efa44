import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../../../src/context/context.ts'
import { awaitDeliveries } from '../../../../src/delivery/background.ts'
import { listMembers } from '../../../../src/organizations/memberships.ts'
import {
  createOrganizationDomain,
  verifyOrganizationDomain,
} from '../../../../src/organizations/organization-domains.ts'
import { createOrganization, deleteOrganization } from '../../../../src/organizations/organizations.ts'
import { updateSettings } from '../../../../src/tenants/settings.ts'
import { createUser, lockUser } from '../../../../src/users/users.ts'
import { dbFor } from '../../../support/database.ts'
import { publishRecord } from '../../../support/dns-server.ts'
import { handleIn, openPage } from '../../../support/hosted-pages.ts'
import { csrfIn } from '../../../support/page-browser.ts'
import { answerIn } from '../../../support/protocol.ts'
import { test } from '../../../support/sign-up.ts'

const ADA = { step: 'create', name: 'Ada Lovelace' }

describe('a sign-up', () => {
  test('creates a user with the verified address and the entered name, and starts a session', async ({
    tenant,
    client,
    browser,
    stranger,
    events,
    inbox,
    atCreation,
    findUsers,
  }) => {
    const page = await atCreation()
    expect(page.html).toContain('Create your account')
    expect(page.html).toContain(stranger)
    expect(await findUsers(stranger)).toEqual([])
    const { location } = await browser.submit(page, ADA)
    expect(answerIn(location)).toMatchObject({ code: expect.any(String) })
    const [user] = await findUsers(stranger)
    expect(user).toMatchObject({ name: 'Ada Lovelace', email: stranger, emailVerified: true, roles: [] })
    const sessions = await dbFor(tenant).session.findMany({ where: { tenantId: tenant, userId: user?.id } })
    expect(sessions).toMatchObject([
      { kind: 'browser', proofs: [{ method: 'passcode', amr: ['otp'] }], endedAt: null },
    ])
    const by = { userId: user?.id, actorUserId: user?.id, actorClientId: client.id }
    expect((await events()).filter(({ userId }) => userId === user?.id)).toMatchObject([
      { type: 'user.created', detail: { origin: 'sign-up' }, ...by },
      { type: 'session.started', ...by },
    ])
    await awaitDeliveries()
    // The code, and no notice about a new browser.
    expect(await inbox.list(stranger)).toHaveLength(1)
  })

  test('makes the person a member of the organization that has proven the domain', async ({
    ctx,
    browser,
    stranger,
    atCreation,
    findUsers,
  }) => {
    const { id } = await createOrganization(ctx, { slug: 'joined', name: 'Acme' })
    const domain = await createOrganizationDomain(ctx, id, {
      domain: stranger.split('@')[1],
      enrollment: 'automatic',
    })
    publishRecord(domain)
    await verifyOrganizationDomain(ctx, domain.id)
    await browser.submit(await atCreation(), { step: 'create', name: 'Ada' })
    const [user] = await findUsers(stranger)
    expect((await listMembers(ctx, id, {})).rows).toMatchObject([{ userId: user?.id, joinedVia: 'domain' }])
    await deleteOrganization(ctx, id)
  })

  test('shows every address the same pages until it is proven', async ({
    tenant,
    person,
    newPerson,
    stranger,
    newBrowser,
    atCode,
    inbox,
  }) => {
    const locked = await newPerson()
    await lockUser(createPlatformCtx(tenant), locked.id)
    const pages = []
    for (const address of [person.email, stranger, locked.email]) {
      const by = newBrowser()
      const page = await atCode(by, address)
      expect(page.html).toMatch(/We sent a code to <bdi class="given">[^<]+<\/bdi>/)
      const wrong = await by.submit(page, { step: 'code', code: '000000' })
      const neutral = (html: string) =>
        html
          .replaceAll(address, 'ADDRESS')
          .replaceAll(handleIn(page.path), 'HANDLE')
          .replaceAll(csrfIn(html), 'CSRF')
          .replace(/\d+ seconds?/, 'SOON')
      const headers = [...page.response.headers.keys()].sort()
      pages.push([page.response.status, headers, neutral(page.html), neutral(await wrong.response.text())])
    }
    expect(pages[1]).toEqual(pages[0])
    expect(pages[2]).toEqual(pages[0])
    expect(await inbox.list(person.email)).toHaveLength(1)
    expect(await inbox.list(stranger)).toHaveLength(1)
    expect(await inbox.list(locked.email)).toEqual([])
  })

  test('names a missing field and keeps what was entered', async ({
    browser,
    atCreation,
    findUsers,
    stranger,
  }) => {
    const page = await atCreation()
    const empty = await browser.submit(page, { step: 'create', name: '  ' })
    expect(empty.path).toBe(page.path)
    expect(await empty.response.text()).toContain('Full name is required.')
    const long = 'x'.repeat(1001)
    const wrong = await (await browser.submit(page, { step: 'create', name: long })).response.text()
    expect(wrong).toContain('Full name must have at most 1000 characters.')
    expect(await findUsers(stranger)).toEqual([])
    expect(answerIn((await browser.submit(page, ADA)).location)).toHaveProperty('code')
  })

  test('signs in a person whose account was created in the meantime', async ({
    ctx,
    browser,
    stranger,
    atCreation,
    findUsers,
  }) => {
    const page = await atCreation()
    const user = await createUser(ctx, { email: stranger, name: 'Countess' })
    expect(answerIn((await browser.submit(page, ADA)).location)).toHaveProperty('code')
    expect(await findUsers(stranger)).toMatchObject([{ id: user.id, name: 'Countess', emailVerified: true }])
  })

  test('accepts the code of an address that got a user after it was sent', async ({
    ctx,
    browser,
    stranger,
    inbox,
    atCode,
  }) => {
    const page = await atCode(browser, stranger)
    await createUser(ctx, { email: stranger })
    const { location } = await browser.submit(page, { step: 'code', code: await inbox.codeFor(stranger) })
    expect(answerIn(location)).toHaveProperty('code')
  })

  test('rejects the person when the user of the address is locked', async ({
    ctx,
    browser,
    stranger,
    atCreation,
    findUsers,
  }) => {
    const page = await atCreation()
    const user = await createUser(ctx, { email: stranger })
    await lockUser(ctx, user.id)
    const { response, location } = await browser.submit(page, ADA)
    expect(location).toBeNull()
    expect(await response.text()).toContain('You cannot sign in with this address.')
    expect(await findUsers(stranger)).toMatchObject([{ id: user.id, locked: true, emailVerified: false }])
  })

  test('creates nothing after it was switched off', async ({
    ctx,
    browser,
    stranger,
    atCreation,
    findUsers,
  }) => {
    const page = await atCreation()
    await updateSettings(ctx, { signUp: 'off' })
    const { response } = await browser.submit(page, ADA)
    expect(await response.text()).toContain('New accounts cannot be created with this address.')
    expect(await findUsers(stranger)).toEqual([])
    await updateSettings(ctx, { signUp: 'open' })
  })

  test('requires the proof of the address in the same browser', async ({
    browser,
    newBrowser,
    start,
    atCode,
    atCreation,
    stranger,
    findUsers,
  }) => {
    const page = await atCreation()
    const other = newBrowser()
    await start(other)
    expect((await other.submit(page, ADA)).response.status).toBe(410)
    const unproven = await atCode(other, stranger)
    expect((await openPage(other, unproven.path.replace('/code', '/create'))).path).not.toMatch(/create$/)
    const path = unproven.path.replace('/code', '/create')
    expect((await other.submit({ ...unproven, path }, ADA)).location).toBeNull()
    expect(await findUsers(stranger)).toEqual([])
    expect(answerIn((await browser.submit(page, ADA)).location)).toHaveProperty('code')
  })

  test('is for the proven address only', async ({ browser, stranger, person, atCreation, findUsers }) => {
    const page = await atCreation()
    const { path } = await browser.submit(page, { step: 'restart' })
    const again = await openPage(browser, path)
    expect((await browser.submit(again, { step: 'email', address: person.email })).path).toMatch(/code$/)
    expect((await browser.submit(page, { ...ADA, email: person.email })).location).toBeNull()
    expect(await findUsers(stranger)).toEqual([])
  })

  test('does not write members that the page does not ask for', async ({
    browser,
    stranger,
    atCreation,
    findUsers,
  }) => {
    await browser.submit(await atCreation(), { ...ADA, roles: 'admin', appMetadata: '{}', nickname: 'x' })
    expect(await findUsers(stranger)).toMatchObject([{ roles: [], nickname: null }])
  })

  test('sends nothing to an unknown phone number', async ({ browser, inbox, atCode }) => {
    const page = await atCode(browser, '+436641230001')
    expect(page.html).toContain('can sign in, a code is on its way')
    expect(await inbox.list('+436641230001')).toEqual([])
  })
})
