import { describe, expect, vi } from 'vitest'
import { createAssertion, createCredential } from '../support/authenticator.ts'
import { test as enrollmentTest } from '../support/enrollment.ts'
import { test as passkeyTest, readPasskeyOptions } from '../support/passkeys.ts'

vi.hoisted(() => {
  process.env.PASSKEY_ORIGINS = 'https://app.example.com, https://shop.example'
})

const LISTED = 'https://app.example.com'

describe('/.well-known/webauthn', () => {
  enrollmentTest('lists BASE_URL and PASSKEY_ORIGINS (WebAuthn Level 3, section 5.11)', async ({ app }) => {
    const response = await fetch(`${app.origin}/.well-known/webauthn`)
    expect(response.headers.get('content-type')).toContain('application/json')
    expect(await response.json()).toEqual({
      origins: ['http://localhost:3000', LISTED, 'https://shop.example'],
    })
  })
})

describe('an enrollment', () => {
  enrollmentTest(
    'accepts a passkey that a listed origin has created',
    async ({ newToken, post, optionsFor }) => {
      const token = await newToken()
      const { response } = createCredential(await optionsFor(token), { origin: LISTED })
      expect((await post('credential', { token, response })).status).toBe(201)
    },
  )

  enrollmentTest.for(['https://evil.example', 'http://app.example.com', 'https://www.app.example.com'])(
    'rejects a passkey that %s has created',
    async (origin, { newToken, post, optionsFor, countCredentials }) => {
      const token = await newToken()
      const { response } = createCredential(await optionsFor(token), { origin })
      expect((await post('credential', { token, response })).status).toBe(400)
      expect(await countCredentials()).toBe(0)
    },
  )
})

describe('a sign-in', () => {
  passkeyTest(
    'rejects an assertion that a listed origin has obtained',
    async ({ person, start, passkeys, browser }) => {
      const passkey = await passkeys.enroll(person.id)
      const page = await start()
      const assertion = createAssertion(passkey, readPasskeyOptions(page.html), { origin: LISTED })
      const { response } = await browser.submit(page, { step: 'passkey', assertion })
      expect(await response.text()).toContain('This passkey did not work.')
    },
  )
})
