import { text } from 'node:stream/consumers'
import { SignJWT } from 'jose'
import { describe, expect } from 'vitest'
import { test as base } from '../../../support/provider-habits.ts'

const SECRET = '0123456789abcdef0123456789abcdef'
const REJECTED = 'did not work. Try again, or choose another way.'

/** Signs as LINE does: with the client secret. */
const signWith = (secret: string) => (claims: string) =>
  new SignJWT(JSON.parse(claims)).setProtectedHeader({ alg: 'HS256' }).sign(new TextEncoder().encode(secret))

const test = base
  .extend('line', { scope: 'file' }, ({ newProvider }) =>
    newProvider({ entry: 'anyone', idTokenSigningAlg: 'HS256', clientSecret: SECRET }),
  )
  .extend('linkedIn', { scope: 'file' }, ({ newProvider }) =>
    newProvider({ entry: 'anyone', usePkce: false, expectNonce: false }),
  )

describe('a provider that signs ID tokens with the client secret', () => {
  test('is accepted where an administrator states HS256', async ({ line, signInWithHabits }) => {
    expect((await signInWithHabits(line, 'ada', { sign: signWith(SECRET) })).hasEntered).toBe(true)
  })

  test('is rejected with another secret, and with its own keys', async ({
    line,
    signInWithHabits,
    findLastFailure,
  }) => {
    const { html } = await signInWithHabits(line, 'eve', { sign: signWith('x'.repeat(32)) })
    expect(html).toContain(REJECTED)
    expect(await findLastFailure()).toMatchObject({ detail: { cause: 'signature' } })
    expect((await signInWithHabits(line, 'eve', {})).hasEntered).toBe(false)
    expect(await findLastFailure()).toMatchObject({ detail: { cause: 'algorithm not accepted' } })
  })

  test('is rejected where it is not stated', async ({ provider, signInWithHabits, findLastFailure }) => {
    const sign = signWith(provider.upstream.client.clientSecret)
    expect((await signInWithHabits(provider, 'eve', { sign })).hasEntered).toBe(false)
    expect(await findLastFailure()).toMatchObject({ detail: { cause: 'algorithm not accepted' } })
  })
})

describe('a provider without PKCE and nonce', () => {
  test('is sent no challenge and no verifier, and may leave out the nonce', async ({
    linkedIn,
    newBrowser,
    start,
    choose,
    signInThere,
    comeBack,
    signInWithHabits,
  }) => {
    const by = newBrowser()
    const request = await choose(await start(by), linkedIn.id, by)
    expect(request.searchParams.has('code_challenge')).toBe(false)
    expect(request.searchParams.has('code_challenge_method')).toBe(false)
    const callback = await signInThere(request, 'whole')
    const forms: URLSearchParams[] = []
    linkedIn.upstream.before.set('/token', async (incoming, response) => {
      forms.push(new URLSearchParams(await text(incoming)))
      response.writeHead(400).end('{"error":"invalid_grant"}')
      return true
    })
    await comeBack(callback, by)
    linkedIn.upstream.before.clear()
    expect(forms[0]?.has('code')).toBe(true)
    expect(forms[0]?.has('code_verifier')).toBe(false)
    expect((await signInWithHabits(linkedIn, 'ada', { idToken: { nonce: undefined } })).hasEntered).toBe(true)
  })

  test('is rejected with the nonce of another sign-in', async ({
    linkedIn,
    signInWithHabits,
    findLastFailure,
  }) => {
    expect((await signInWithHabits(linkedIn, 'eve', { idToken: { nonce: 'another' } })).hasEntered).toBe(
      false,
    )
    expect(await findLastFailure()).toMatchObject({ detail: { cause: 'nonce' } })
  })

  test('is still bound to the browser and the attempt', async ({
    linkedIn,
    newBrowser,
    start,
    choose,
    signInThere,
    comeBack,
  }) => {
    const [victim, attacker] = [newBrowser(), newBrowser()]
    const stolen = await signInThere(await choose(await start(attacker), linkedIn.id, attacker), 'mallory')
    const request = await choose(await start(victim), linkedIn.id, victim)
    expect((await comeBack(stolen, victim)).response.status).toBe(410)
    const old = await signInThere(request, 'ada')
    await choose(await start(victim), linkedIn.id, victim)
    const { location } = await comeBack(old, victim)
    expect(location).toContain('code=')
    // Opened again, the answer leads to the same code, and in another browser nowhere.
    expect((await comeBack(old, victim)).location).toBe(location)
    expect((await comeBack(old, attacker)).response.status).toBe(410)
  })
})
