import { describe, expect } from 'vitest'
import { updateSettings } from '../../../src/tenants/settings.ts'
import { test as base } from '../../support/account-pages.ts'
import { dbFor } from '../../support/database.ts'
import { openPage } from '../../support/hosted-pages.ts'
import { codeFor } from '../../support/protocol.ts'
import { repeatForm } from '../../support/repeated-forms.ts'
import { equipOwner, readSetupSecret } from '../../support/second-factor.ts'
import { computeTotp } from '../../support/totp.ts'

const test = base
  .extend('permitting', { scope: 'file', auto: true }, ({ ctx }) =>
    updateSettings(ctx, { accountDeletionDays: 7, secondFactor: 'if-enrolled' }),
  )
  /** Repeats a form of an account page; expects one outcome, and the events of one form. Returns the page that follows. */
  .extend(
    'expectOnce',
    ({ here, visit, events, person }) =>
      async (
        path: string,
        form: Record<string, string>,
        types: string[] | null,
        given = visit(path),
        { comparesCookies = true } = {},
      ) => {
        const page = await given
        const list = async () => (await events({ userId: person.id })).map(({ type }) => type)
        const before = (await list()).length
        const { outcomes, last } = await repeatForm(here, page, form)
        const recorded = (await list()).slice(before)
        expect(recorded).toEqual(types ?? [...new Set(recorded)])
        const [first] = outcomes
        for (const { cookies, ...outcome } of outcomes)
          expect({ ...outcome, cookies: comparesCookies ? cookies : first?.cookies }).toEqual(first)
        const { response } = await here.follow(last)
        return { status: outcomes[0]?.status, html: outcomes[0]?.body || (await response.text()) }
      },
  )

describe('a form of an account page that is sent several times', () => {
  test('saves the profile once', async ({ visit, expectOnce }) => {
    const page = await visit('/profile')
    const updatedAt = /name="updated-at" value="([^"]+)"/.exec(page.html)?.[1] ?? ''
    const form = { step: 'save', name: 'Ada', 'updated-at': updatedAt }
    const next = await expectOnce('/profile', form, ['user.updated'], Promise.resolve(page))
    expect(next.html).toContain('Your profile is saved.')
  })

  test('sends one code to a new address, counts a wrong one once, and changes the address once', async ({
    tenant,
    email,
    inbox,
    visit,
    expectOnce,
  }) => {
    const address = email(`new-${Date.now()}`)
    await expectOnce('/addresses', { step: 'change-email', address }, null)
    expect(await inbox.list(address)).toHaveLength(1)
    const code = await codeFor(address)
    const wrong = String((Number(code) + 1) % 1e6).padStart(6, '0')
    const rejected = await expectOnce('/addresses', { step: 'confirm-email', address, code: wrong }, null)
    expect(rejected.status).toBeGreaterThanOrEqual(400)
    const row = await dbFor(tenant).addressChange.findFirstOrThrow({ where: { tenantId: tenant, address } })
    expect(row.attempts).toBe(1)
    const done = await expectOnce('/addresses', { step: 'confirm-email', address, code }, null)
    expect(done.html).toContain(address)
    expect((await visit('/addresses')).html).not.toContain('confirm-email')
  })

  test('sets up an app once, and shows the same recovery codes', async ({
    tenant,
    person,
    visit,
    expectOnce,
  }) => {
    const page = await visit('/authenticator-app')
    const token = /name="token" value="([^"]+)"/.exec(page.html)?.[1] ?? ''
    const form = { step: 'confirm', token, code: computeTotp(readSetupSecret(page.html)) }
    await expectOnce('/authenticator-app', form, null, Promise.resolve(page))
    const where = { tenantId: tenant, userId: person.id, type: 'totp' }
    expect(await dbFor(tenant).credential.count({ where })).toBe(1)
    const codes = await expectOnce('/recovery-codes', { step: 'create' }, null)
    expect(codes.html).toMatch(/[a-z0-9]{4,}-[a-z0-9]{4,}/i)
  })

  test('removes an app once', async ({ ctx, tenant, person, expectOnce }) => {
    await equipOwner(ctx, person)
    const where = { tenantId: tenant, userId: person.id, type: 'totp' }
    const { id } = await dbFor(tenant).credential.findFirstOrThrow({ where })
    const next = await expectOnce('/sign-in-methods', { step: 'remove', credential: id }, null)
    expect(next.html).toContain('Sign-in method removed.')
  })

  test('requests and cancels the deletion once', async ({ expectOnce }) => {
    expect((await expectOnce('/deletion', { step: 'delete' }, ['user.deletion_requested'])).status).toBe(303)
    expect((await expectOnce('/deletion', { step: 'keep' }, ['user.deletion_canceled'])).status).toBe(303)
  })

  test('signs the other sessions out once', async ({ tenant, person, newBrowser, expectOnce }) => {
    const { startSessionIn } = await import('../../support/browser-session.ts')
    await startSessionIn(newBrowser(), tenant, person.id)
    const next = await expectOnce('/sessions', { step: 'sign-out-others' }, ['session.ended'])
    expect(next.status).toBe(303)
  })

  test('leads to one enrollment link', async ({ expectOnce }) => {
    expect((await expectOnce('/sign-in-methods', { step: 'create-passkey' }, null)).status).toBe(303)
  })

  test('ends the session once, at the question of a logout', async ({ tenant, here, visit, expectOnce }) => {
    const page = await openPage(here, `/${tenant}/oidc/logout`)
    const path = { ...page, path: `/${tenant}/oidc/logout` }
    // A form that comes without the cookie of the session removes none.
    const options = { comparesCookies: false }
    const next = await expectOnce('', { step: 'logout' }, ['session.ended'], Promise.resolve(path), options)
    expect(next.html).toContain('signed out')
    expect(visit).toBeDefined()
  })
})
