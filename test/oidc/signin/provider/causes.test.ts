import { SignJWT, UnsecuredJWT } from 'jose'
import { describe, expect } from 'vitest'
import { answerAt, test as base, type Habits, type ProviderAnswer } from '../../../support/provider-habits.ts'
import { createUpstreamKeys } from '../../../support/upstream.ts'

const WORDS = {
  misconfigured: 'is not set up correctly. Choose another way.',
  rejected: 'did not work. Try again, or choose another way.',
  unavailable: 'does not respond. Try again later, or choose another way.',
}
type Reason = keyof typeof WORDS
const DISCOVERY = '/.well-known/openid-configuration'
const now = () => Math.floor(Date.now() / 1000)

const test = base
  .extend('foreignKeys', { scope: 'file' }, async () => ({ made: await createUpstreamKeys() }))
  /** Expects the words of the page and the event of the last sign-in. */
  .extend(
    'expectCause',
    ({ provider, client, findLastFailure }) =>
      async (html: string, [reason, cause, diagnostics]: Expected, idpId = provider.id) => {
        expect(html).toContain(WORDS[reason])
        const failure = await findLastFailure()
        expect(failure).toMatchObject({
          subjectIds: [client.id, idpId],
          detail: { method: 'provider', reason, cause, ...(diagnostics !== undefined && { diagnostics }) },
        })
        for (const secret of ['eyJ', provider.upstream.client.clientSecret, 'secret words'])
          expect(JSON.stringify(failure)).not.toContain(secret)
      },
  )
type Expected = [reason: Reason, cause: string, diagnostics?: unknown]

describe('the cause of a failed sign-in at a provider', () => {
  const tokens: Record<string, [(issuer: string) => Record<string, unknown>, Expected]> = {
    'another nonce': [() => ({ nonce: 'x' }), ['rejected', 'nonce']],
    'no nonce': [() => ({ nonce: undefined }), ['misconfigured', 'nonce missing']],
    'another audience': [() => ({ aud: 'another' }), ['rejected', 'audience']],
    'another issuer': [
      () => ({ iss: 'https://evil.example' }),
      ['rejected', 'issuer of another provider', 'iss is https://evil.example'],
    ],
    'the issuer with a slash': [
      (issuer) => ({ iss: `${issuer}/` }),
      ['misconfigured', 'issuer differs by a slash', expect.stringMatching(/^iss is http.*\/$/)],
    ],
    'an expiry in the past': [
      () => ({ exp: now() - 60 }),
      ['rejected', 'clock', expect.stringMatching(/^exp is 6\d s ago by the clock of this server$/)],
    ],
    'a start in the future': [
      () => ({ nbf: now() + 90 }),
      ['rejected', 'clock', expect.stringMatching(/^nbf is (8|9)\d s ahead/)],
    ],
    'no subject': [() => ({ sub: undefined }), ['rejected', 'claim missing', 'sub']],
    'no expiry': [() => ({ exp: undefined }), ['rejected', 'claim missing', 'exp']],
    'a subject that is none': [() => ({ sub: {} }), ['misconfigured', 'no subject']],
  }
  test.for(Object.entries(tokens))(
    'is recorded for an ID token with %s',
    async ([, [claimsOf, expected]], { provider, signInWithHabits, expectCause }) => {
      const idToken = claimsOf(provider.upstream.issuer)
      const { html } = await signInWithHabits(provider, 'ada', { idToken })
      await expectCause(html, expected)
    },
  )

  const signatures: Record<string, [(claims: string, key: CryptoKey) => Promise<string>, Expected]> = {
    'no signature': [
      async (claims) => new UnsecuredJWT(JSON.parse(claims)).encode(),
      ['misconfigured', 'algorithm not accepted'],
    ],
    HMAC: [
      (claims) =>
        new SignJWT(JSON.parse(claims)).setProtectedHeader({ alg: 'HS256' }).sign(new Uint8Array(32)),
      ['misconfigured', 'algorithm not accepted'],
    ],
    'the key of another': [
      (claims, key) =>
        new SignJWT(JSON.parse(claims)).setProtectedHeader({ alg: 'ES256', kid: 'upstream-ES256' }).sign(key),
      ['rejected', 'signature'],
    ],
    'an unknown key': [
      (claims, key) =>
        new SignJWT(JSON.parse(claims)).setProtectedHeader({ alg: 'ES256', kid: 'x' }).sign(key),
      ['rejected', 'key unknown'],
    ],
    'no token': [async () => 'eyJno-token', ['rejected', 'signature']],
  }
  test.for(Object.entries(signatures))(
    'is recorded for an ID token that is signed with %s',
    async ([, [signWith, expected]], { provider, foreignKeys, signInWithHabits, expectCause }) => {
      const key = foreignKeys.made.find(({ alg }) => alg === 'ES256')?.privateKey as CryptoKey
      const { html } = await signInWithHabits(provider, 'ada', { sign: (claims) => signWith(claims, key) })
      await expectCause(html, expected)
    },
  )

  const answers: Record<string, [ProviderAnswer, Expected]> = {
    'status 401': [{ status: 401 }, ['misconfigured', 'invalid_client', 'status 401']],
    'status 401 and a page': [
      { status: 401, type: 'text/html', body: 'x' },
      ['misconfigured', 'invalid_client'],
    ],
    invalid_client: [
      { status: 400, body: { error: 'invalid_client', error_description: 'secret words' } },
      ['misconfigured', 'invalid_client'],
    ],
    'the word of GitHub for it': [
      { body: { error: 'incorrect_client_credentials' } },
      ['misconfigured', 'invalid_client'],
    ],
    invalid_grant: [{ status: 400, body: { error: 'invalid_grant' } }, ['rejected', 'invalid_grant']],
    'an error of its own': [{ status: 400, body: { error: { code: 190 } } }, ['rejected', 'other error']],
    'no ID token': [{ body: { access_token: 'x' } }, ['misconfigured', 'no ID token']],
    'no token': [{ body: {} }, ['misconfigured', 'no access token']],
    'a page': [
      { type: 'text/html', body: '<!doctype html>' },
      ['misconfigured', 'not JSON', 'an answer with status 200 and text/html is not a JSON object'],
    ],
    'more than 1 MB': [{ body: 'x'.repeat(1_000_001) }, ['misconfigured', 'too large']],
    'a redirect': [{ status: 302 }, ['misconfigured', 'redirected elsewhere']],
    'status 500': [{ status: 500 }, ['unavailable', 'server error', '127.0.0.1 answered 500']],
    'status 429': [{ status: 429 }, ['unavailable', 'server error']],
  }
  test.for(Object.entries(answers))(
    'is recorded for a token endpoint with %s',
    async ([, [answer, expected]], { provider, signInWithHabits, expectCause }) => {
      const habits: Habits = { tokenAnswer: () => answer }
      const { html } = await signInWithHabits(provider, 'ada', habits)
      await expectCause(html, expected)
    },
  )

  test.for([
    ['http://127.0.0.1:9', ['unavailable', 'unreachable', '127.0.0.1 could not be reached']],
    ['TLS', ['misconfigured', 'TLS failed']],
    ['slash', ['misconfigured', 'issuer differs by a slash']],
    ['another', ['misconfigured', 'issuer differs', expect.stringContaining('names https://other.example')]],
    ['none', ['misconfigured', 'metadata without issuer']],
    ['404', ['misconfigured', 'unexpected status', expect.stringContaining('answered 404')]],
    ['page', ['misconfigured', 'not JSON']],
    ['endpoint', ['misconfigured', 'endpoint missing', 'authorizationEndpoint']],
    ['script', ['misconfigured', 'endpoint unusable']],
  ] as [string, Expected][])(
    'is recorded for discovery: %s',
    async ([name, expected], { newProvider, browser, start, expectCause }) => {
      const absent = await newProvider()
      const { upstream, id } = absent
      const { issuer } = upstream
      const bodies: Record<string, ProviderAnswer> = {
        slash: { body: { issuer: `${issuer}/` } },
        another: { body: { issuer: 'https://other.example' } },
        none: { body: {} },
        '404': { status: 404 },
        page: { type: 'text/html', body: '<p>' },
        endpoint: { body: { issuer } },
        script: { body: { issuer, authorization_endpoint: 'javascript:alert(1)' } },
      }
      answerAt(upstream, DISCOVERY, bodies[name] ?? {})
      const wrong = name.startsWith('http') ? name : name === 'TLS' ? issuer.replace('http:', 'https:') : null
      const used = wrong ? (await newProvider({ issuer: wrong })).id : id
      const { response } = await browser.submit(await start(), { step: 'provider', idp: used })
      await expectCause(await response.text(), expected, used)
    },
  )

  test.for([
    ['invalid_scope', 'misconfigured', 'invalid_scope'],
    ['unauthorized_client', 'misconfigured', 'unauthorized_client'],
    ['server_error', 'rejected', 'other error'],
  ] as const)(
    'is recorded for an answer with the error %s',
    async ([error, words, cause], { provider, start, choose, comeBack, findLastFailure }) => {
      const request = await choose(await start(), provider.id)
      const callback = new URL(provider.callback)
      const state = request.searchParams.get('state') ?? ''
      callback.search = String(new URLSearchParams({ error, state, error_description: 'secret words' }))
      expect((await comeBack(callback)).html).toContain(WORDS[words])
      expect((await findLastFailure())?.detail).toEqual({
        method: 'provider',
        reason: 'refused',
        error,
        cause,
      })
    },
  )
})
