import { SignJWT, UnsecuredJWT } from 'jose'
import { describe, expect } from 'vitest'
import {
  test as base,
  type Habits,
  type ProviderAnswer,
  usualClaims,
} from '../../../support/provider-habits.ts'
import { hasServices } from '../../../support/services.ts'

const VERIFIED = { email: 'in-token@upstream.example', email_verified: true }

const test = base
  .extend('open', { scope: 'file' }, ({ newProvider }) =>
    newProvider({ entry: 'anyone', trustEmail: true, claims: { name: 'name', nickname: 'nick' } }),
  )
  /** Signs a new subject in; returns the user, and whether userinfo was asked. */
  .extend('enter', ({ open, signInWithHabits, findLinked }) => async (subject: string, habits: Habits) => {
    open.upstream.asked.length = 0
    const { hasEntered } = await signInWithHabits(open, subject, habits)
    return {
      hasEntered,
      hasAsked: open.upstream.asked.includes('/me'),
      user: await findLinked(open.id, subject),
    }
  })

describe.runIf(hasServices)('the userinfo endpoint at a sign-in', () => {
  const complete = { ...VERIFIED, name: 'Ada', nick: 'countess' }

  test('is not asked when the ID token has all claims that are used', async ({ enter }) => {
    const { hasEntered, hasAsked, user } = await enter('complete', { idToken: complete })
    expect({ hasEntered, hasAsked }).toEqual({ hasEntered: true, hasAsked: false })
    expect(user).toMatchObject({ email: VERIFIED.email, name: 'Ada', nickname: 'countess' })
  })

  test.for([
    ['the address', { ...complete, email: undefined }],
    ['the verification of the address', { ...complete, email_verified: undefined }],
    ['a copied claim', { ...complete, nick: undefined }],
    ['the value of a copied claim', { ...complete, nick: null }],
  ] as const)('is asked when the ID token lacks %s', async ([name, claims], { enter }) => {
    const subject = name.replaceAll(' ', '-')
    const email = `${subject}@upstream.example`
    const idToken = { ...claims, ...('email' in claims && claims.email && { email }) }
    const body = { ...complete, sub: subject, email, name: 'Other', nick: 'there' }
    const { hasAsked, user } = await enter(subject, { idToken, userInfo: { body } })
    expect(hasAsked).toBe(true)
    expect(user).toMatchObject({ email, name: 'Ada', nickname: idToken.nick ?? 'there' })
  })

  const failures: Record<string, ProviderAnswer | null> = {
    'answers 500': { status: 500 },
    'answers 401': { status: 401, body: { error: 'invalid_token' } },
    'does not answer in time': null,
    'is about another subject': { body: { sub: 'mallory', nick: 'stolen', ...VERIFIED } },
    'has no subject': { body: { nick: 'stolen' } },
    'is a page': { type: 'text/html', body: '<!doctype html><title>Maintenance</title>' },
    'is a list': { body: [] },
    'has more than 1 MB': { body: { nick: 'x'.repeat(1_000_000) } },
    redirects: { status: 302 },
  }
  test.for(Object.entries(failures))(
    'leaves out only what the ID token lacks when it %s',
    async ([name, userInfo], { enter }) => {
      const subject = `failing-${name.replaceAll(' ', '-')}`
      const idToken = { ...VERIFIED, email: `${subject}@upstream.example`, name: 'Ada' }
      const begin = performance.now()
      const { hasEntered, hasAsked, user } = await enter(subject, { idToken, userInfo })
      expect({ hasEntered, hasAsked }).toEqual({ hasEntered: true, hasAsked: true })
      expect(performance.now() - begin).toBeLessThan(8000)
      expect(user).toMatchObject({ email: idToken.email, emailVerified: true, name: 'Ada', nickname: null })
    },
  )

  test('may write the subject as a number of any size', async ({ enter }) => {
    const sub = '12345678901234567890'
    const { user } = await enter(sub, {
      idToken: {},
      userInfo: { body: `{"sub":${sub},"nick":"large"}` },
    })
    expect(user).toMatchObject({ nickname: 'large' })
  })

  describe('may sign its response', () => {
    const responses: Record<string, [(upstream: { issuer: string }) => object, string | null]> = {
      'with issuer and audience': [({ issuer }) => ({ iss: issuer, aud: ['vestibule'] }), 'signed'],
      'without them': [() => ({}), 'signed'],
      'for another client': [() => ({ aud: 'another' }), null],
      'as another issuer': [() => ({ iss: 'https://evil.example' }), null],
    }
    test.for(Object.entries(responses))('%s', async ([name, [claimsOf, nickname]], { open, enter }) => {
      const sub = `signed-${name.replaceAll(' ', '-')}`
      const body = await open.upstream.sign({ sub, nick: 'signed', ...claimsOf(open.upstream) })
      const userInfo = { type: 'Application/JWT; charset=utf-8', body }
      const idToken = { ...VERIFIED, email: `${sub}@upstream.example` }
      const { hasEntered, user } = await enter(sub, { idToken, userInfo })
      expect({ hasEntered, nickname: user?.nickname }).toEqual({ hasEntered: true, nickname })
    })

    test('by its own key only', async ({ open, enter }) => {
      const secret = new TextEncoder().encode(open.upstream.client.clientSecret)
      const claims = { sub: 'forged', nick: 'forged' }
      for (const body of [
        new UnsecuredJWT(claims).encode(),
        await new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(secret),
      ]) {
        const userInfo = { type: 'application/jwt', body }
        const { hasEntered, user } = await enter('forged', { idToken: {}, userInfo })
        expect({ hasEntered, nickname: user?.nickname }).toEqual({ hasEntered: true, nickname: null })
      }
    })
  })
})

describe.runIf(hasServices)('the token endpoint at a sign-in', () => {
  const answers: Record<string, (members: Record<string, unknown>) => ProviderAnswer> = {
    'a form': (members) => ({
      type: 'application/x-www-form-urlencoded; charset=utf-8',
      body: String(new URLSearchParams(members as Record<string, string>)),
    }),
    'a form as text': (members) => ({
      type: 'text/plain',
      body: String(new URLSearchParams(members as Record<string, string>)),
    }),
    'JSON as text': (members) => ({ type: 'text/plain', body: members }),
    'status 201': (members) => ({ status: 201, body: members }),
    'status 203': (members) => ({ status: 203, body: members }),
    'an error that is null': (members) => ({ body: { ...members, error: null, refresh_token: '' } }),
    'a lifetime as text': (members) => ({ body: { ...members, expires_in: '3600', scope: ['openid'] } }),
  }
  test.for(Object.entries(answers))('may answer with %s', async ([name, tokenAnswer], { enter }) => {
    const { hasEntered } = await enter(`token-${name.replaceAll(' ', '-')}`, { tokenAnswer })
    expect(hasEntered).toBe(true)
  })

  test('may name the subject by a number of any size', async ({ open, enter }) => {
    const idToken = usualClaims(open.upstream, 'SUB').replace('"SUB"', '98765432109876543210')
    expect((await enter('98765432109876543210', { idToken })).user).not.toBeNull()
  })
})
