import { describe, expect } from 'vitest'
import { updateSettings } from '../../../src/tenants/settings.ts'
import { test as base } from '../../support/account-pages.ts'
import { startSessionIn } from '../../support/browser-session.ts'
import { dbFor } from '../../support/database.ts'
import { readSetupSecret } from '../../support/second-factor.ts'
import { computeTotp, computeWrongTotp } from '../../support/totp.ts'

const APP = '/authenticator-app'
const CODES = '/recovery-codes'

const tokenIn = (html: string): string => /name="token" value="([^"]+)"/.exec(html)?.[1] ?? ''
const codesIn = (html: string): string[] =>
  [...html.matchAll(/<li><code>([^<]+)</g)].map(([, code]) => code as string)

const test = base.extend('types', ({ tenant, person }) => async () => {
  const rows = await dbFor(tenant).credential.findMany({ where: { tenantId: tenant, userId: person.id } })
  return rows.map(({ type }) => type).sort()
})

describe('the pages of second factors', () => {
  test('set up an authenticator app by its first code, and then recovery codes', async ({
    person,
    here,
    visit,
    submit,
    types,
    events,
  }) => {
    const setup = await visit(APP)
    const secret = readSetupSecret(setup.html)
    const token = tokenIn(setup.html)
    const { response } = await here.submit(setup, { step: 'confirm', token, code: computeWrongTotp(secret) })
    const html = await response.text()
    expect([response.status, readSetupSecret(html)]).toEqual([400, secret])
    expect(await types()).toEqual([])
    const form = { step: 'confirm', token: tokenIn(html), code: computeTotp(secret) }
    const done = await here.submit({ html, path: setup.path }, form)
    expect(await done.response.text()).toContain('Your authenticator app is set up.')
    expect(await types()).toEqual(['totp'])
    const codes = codesIn((await submit(CODES, { step: 'create' })).html)
    expect(codes).toHaveLength(10)
    const others = codesIn((await submit(CODES, { step: 'create' })).html)
    expect(others.filter((code) => codes.includes(code))).toEqual([])
    expect(await types()).toEqual(['recovery-codes', 'totp'])
    const log = JSON.stringify(await events({ userId: person.id }))
    for (const value of [secret, ...codes]) expect(log).not.toContain(value)
  })

  test('create no recovery codes without an app', async ({ submit, types }) => {
    const { response, html } = await submit(CODES, { step: 'create' })
    expect([response.status, codesIn(html)]).toEqual([409, []])
    expect(html).toContain('Set up an authenticator app first.')
    expect(await types()).toEqual([])
  })

  test('accept the key of a page in its own session only', async ({
    tenant,
    newPerson,
    newBrowser,
    here,
    visit,
    types,
  }) => {
    const setup = await visit(APP)
    const form = {
      step: 'confirm',
      token: tokenIn(setup.html),
      code: computeTotp(readSetupSecret(setup.html)),
    }
    const other = await newPerson()
    const elsewhere = newBrowser()
    await startSessionIn(elsewhere, tenant, other.id)
    const { response } = await elsewhere.submit(await visit(APP, elsewhere), form)
    expect(response.status).toBe(400)
    await here.submit(setup, { ...form, token: `${form.token.slice(0, -4)}AAAA` })
    expect(await types()).toEqual([])
    expect(await dbFor(tenant).credential.count({ where: { tenantId: tenant, userId: other.id } })).toBe(0)
  })

  test('require a sign-in of the last 15 minutes', async ({ tenant, visit, submit, ageSignIn, types }) => {
    await ageSignIn(16)
    expect((await visit(APP)).path).toMatch(new RegExp(`^/${tenant}/signin/`))
    expect((await submit(CODES, { step: 'create' })).path).toMatch(new RegExp(`^/${tenant}/signin/`))
    expect(await types()).toEqual([])
  })

  test('are not offered where the tenant has no second factor', async ({ ctx, visit }) => {
    expect((await visit('/sign-in-methods')).html).toContain('Set up an authenticator app')
    await updateSettings(ctx, { secondFactor: 'off', signInMethods: ['passkey'] })
    try {
      const { html } = await visit('/sign-in-methods')
      expect(html).not.toContain('authenticator-app')
      expect(html).not.toContain('a code that we send')
    } finally {
      await updateSettings(ctx, { secondFactor: null, signInMethods: null })
    }
  })
})
