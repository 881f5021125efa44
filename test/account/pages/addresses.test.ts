import { describe, expect } from 'vitest'
import { getUser, updateUser } from '../../../src/users/users.ts'
import { test as base } from '../../support/account-pages.ts'
import { codeFor } from '../../support/protocol.ts'

const PATH = '/addresses'

const test = base.extend('fresh', ({ tenant }) => `fresh@${tenant}.example`)

describe('the page of addresses', () => {
  test('changes the e-mail address by the code that is sent to the new one', async ({
    ctx,
    person,
    fresh,
    visit,
    submit,
  }) => {
    const asked = await submit(PATH, { step: 'change-email', address: fresh })
    expect(asked.html).toContain(`Enter the code for <bdi class="given">${fresh}</bdi>`)
    expect((await visit(PATH)).html).toContain('Enter the code for')
    const wrong = await submit(PATH, { step: 'confirm-email', address: fresh, code: '000000' })
    expect([wrong.response.status, (await getUser(ctx, person.id)).email]).toEqual([400, person.email])
    const code = await codeFor(fresh)
    const done = await submit(PATH, { step: 'confirm-email', address: fresh, code })
    expect(done.html).toContain('Your new address is confirmed.')
    expect(done.html).not.toContain('Enter the code for')
    expect(await getUser(ctx, person.id)).toMatchObject({ email: fresh, emailVerified: true })
  })

  test('answers an address of another user like a free one', async ({ fresh, newPerson, submit }) => {
    const other = await newPerson()
    const pages = []
    for (const address of [other.email, fresh]) {
      const { html } = await submit(PATH, { step: 'change-email', address })
      pages.push(html.replaceAll(address, 'ADDRESS').replace(/name="csrf" value="[^"]+"/g, ''))
      if (pages.length === 1) await new Promise((resolve) => setTimeout(resolve, 0))
    }
    expect(pages[0]).toContain('Enter the code for')
  })

  test('adds a phone number, and removes it', async ({ ctx, person, submit }) => {
    const phoneNumber = '+41791230042'
    await submit(PATH, { step: 'change-phone', address: phoneNumber })
    const code = await codeFor(phoneNumber)
    await submit(PATH, { step: 'confirm-phone', address: phoneNumber, code })
    expect(await getUser(ctx, person.id)).toMatchObject({ phoneNumber, phoneNumberVerified: true })
    const removed = await submit(PATH, { step: 'remove-phone', address: phoneNumber })
    expect(removed.html).toContain('Your phone number is removed.')
    expect((await getUser(ctx, person.id)).phoneNumber).toBeNull()
  })

  test('requires a sign-in of the last 15 minutes', async ({
    tenant,
    ctx,
    person,
    fresh,
    submit,
    ageSignIn,
  }) => {
    await updateUser(ctx, person.id, { phoneNumber: '+41791230043', phoneNumberVerified: true })
    await ageSignIn(16)
    const forms: Record<string, string>[] = [
      { step: 'change-email', address: fresh },
      { step: 'change-phone', address: '+41791230044' },
      { step: 'remove-phone', address: '+41791230043' },
    ]
    for (const form of forms)
      expect((await submit(PATH, form)).path).toMatch(new RegExp(`^/${tenant}/signin/`))
    expect(await getUser(ctx, person.id)).toMatchObject({ email: person.email, phoneNumber: '+41791230043' })
  })
})
