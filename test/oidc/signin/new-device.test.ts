import { describe, expect } from 'vitest'
import { takeSignInNotice } from '../../../src/coordination/person-budgets.ts'
import { awaitDeliveries } from '../../../src/delivery/background.ts'
import { listInboxMessages } from '../../../src/delivery/inbox.ts'
import { updateSettings } from '../../../src/tenants/settings.ts'
import { resetCooldown } from '../../support/account.ts'
import { test as base } from '../../support/accounts.ts'
import { dbFor } from '../../support/database.ts'
import type { Person } from '../../support/fixtures.ts'
import type { PageBrowser } from '../../support/page-browser.ts'

const test = base
  .extend(
    'enter',
    { scope: 'file' },
    ({ tenant, oidc }) =>
      async (browser: PageBrowser, { email }: Person) => {
        await resetCooldown(tenant, email)
        await oidc.signIn(browser, email, { prompt: 'login' })
      },
  )
  /** Makes the sign-ins of a user as old as those of an hour ago. */
  .extend('age', { scope: 'file' }, ({ tenant }) => async ({ id }: Person) => {
    await awaitDeliveries()
    const data = { occurredAt: new Date(Date.now() - 3_600_000) }
    await dbFor(tenant).event.updateMany({ where: { tenantId: tenant, userId: id }, data })
  })
  .extend('listNotices', { scope: 'file' }, () => async ({ email }: Person) => {
    await awaitDeliveries()
    return listInboxMessages(email).filter(({ subject }) => subject?.startsWith('New sign-in'))
  })

describe('a sign-in from a browser in which the user did not sign in before', () => {
  test('is not announced when ten were in the hour', async ({
    tenant,
    newBrowser,
    newPerson,
    enter,
    age,
    listNotices,
  }) => {
    const person = await newPerson()
    await enter(newBrowser(), person)
    await age(person)
    for (let n = 0; n < 9; n++) takeSignInNotice(tenant, person.id)
    await enter(newBrowser(), person)
    await age(person)
    await enter(newBrowser(), person)
    expect(await listNotices(person)).toHaveLength(1)
  })

  test('is announced once, with browser, place, time and the page of the sessions', async ({
    tenant,
    newBrowser,
    newPerson,
    enter,
    age,
    listNotices,
  }) => {
    const person = await newPerson()
    await enter(newBrowser(), person)
    expect(await listNotices(person)).toEqual([])
    await age(person)
    const browser = newBrowser()
    await enter(browser, person)
    const [notice, ...others] = await listNotices(person)
    expect(others).toEqual([])
    expect(notice?.subject).toBe(`New sign-in to your account at ${tenant}`)
    expect(notice?.body).toContain('Time')
    expect(notice?.body).toContain(`http://localhost:3000/${tenant}/account/sessions`)
    await age(person)
    await enter(browser, person)
    // Also after the session and its cookies are gone.
    for (const name of [...browser.cookies.keys()])
      if (/^vst_(sid|acc)/.test(name)) browser.cookies.delete(name)
    await enter(browser, person)
    expect(await listNotices(person)).toHaveLength(1)
  })

  test('is announced when the browser is known to another user only, or has a forged proof', async ({
    newBrowser,
    newPerson,
    enter,
    age,
    listNotices,
  }) => {
    const [person, other] = [await newPerson(), await newPerson()]
    await enter(newBrowser(), person)
    await age(person)
    const browser = newBrowser()
    await enter(browser, other)
    const known = [...browser.cookies].filter(([name]) => name.startsWith('vst_kb'))
    expect(known.length).toBeGreaterThan(0)
    const mine = newBrowser()
    await enter(mine, person)
    const names = [...mine.cookies.keys()].filter((name) => name.startsWith('vst_kb'))
    for (const name of names) browser.cookies.set(name, known[0]?.[1] ?? '')
    await enter(browser, person)
    expect(await listNotices(person)).toHaveLength(2)
  })

  test('is announced to a user who was away until the sessions were deleted', async ({
    tenant,
    newBrowser,
    newPerson,
    enter,
    age,
    listNotices,
  }) => {
    const person = await newPerson()
    await enter(newBrowser(), person)
    await age(person)
    const where = { tenantId: tenant, userId: person.id }
    await dbFor(tenant).session.deleteMany({ where })
    await enter(newBrowser(), person)
    expect(await listNotices(person)).toHaveLength(1)
    // Also when the event log has forgotten the sign-ins.
    await dbFor(tenant).event.deleteMany({ where })
    const createdAt = new Date(Date.now() - 90 * 86_400_000 - 3_600_000)
    await dbFor(tenant).user.updateMany({ where: { tenantId: tenant, id: person.id }, data: { createdAt } })
    await enter(newBrowser(), person)
    expect(await listNotices(person)).toHaveLength(2)
  })

  test('is not announced where the tenant does not want it', async ({
    ctx,
    newBrowser,
    newPerson,
    enter,
    age,
    listNotices,
  }) => {
    const person = await newPerson()
    await enter(newBrowser(), person)
    await age(person)
    await updateSettings(ctx, { newDeviceNotice: false })
    await enter(newBrowser(), person)
    expect(await listNotices(person)).toEqual([])
    await updateSettings(ctx, { newDeviceNotice: null })
    await enter(newBrowser(), person)
    expect(await listNotices(person)).toHaveLength(1)
  })
})
