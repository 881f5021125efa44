import { createRemoteJWKSet, jwtVerify } from 'jose'
import * as openid from 'openid-client'
import { describe, expect } from 'vitest'
import { decide } from '../support/device-flow.ts'
import { validateLogoutToken } from '../support/logout-receiver.ts'
import { PageBrowser } from '../support/page-browser.ts'
import { signInThrough } from '../support/pair.ts'
import { SIGNED_OUT, test } from '../support/pair-test.ts'
import { answerIn, authorizePath, type Browser, basic } from '../support/protocol.ts'
import { type Choice, inTurns } from '../support/round-robin.ts'
import { authorizeBy, discover, SCOPE, type SignInVariant } from '../support/sign-in-variants.ts'

/** Pseudo-random, the same for the same seed, so that a failure is reproducible. */
function byChance(seed: number): Choice {
  let state = seed >>> 0
  return (count) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    // The low bits of such a generator have a short period.
    return Math.floor((state / 2 ** 32) * count)
  }
}

const SIGN_IN_VARIANTS: readonly [name: string, variant: SignInVariant][] = [
  ['a secret and PKCE', {}],
  ['a pushed request (RFC 9126)', { isPushed: true }],
  ['a response by form_post', { isPosted: true }],
  ['private_key_jwt', { hasKey: true }],
  ['DPoP (RFC 9449)', { isBound: true }],
  ['all of these', { isPushed: true, isPosted: true, hasKey: true, isBound: true }],
]

/** Set SEED to repeat a run. */
const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000)
/** The paths of clients that were notified of a logout. */
const signedOut: string[] = []

describe.skipIf(!process.env.REDIS_URL)('two processes behind one origin', () => {
  // Starting both takes longer than a hook may by default.
  test.beforeAll(({ pair: _ }) => {}, 90_000)

  describe.each([
    ['with requests in turns', inTurns()],
    [`with requests by chance (SEED=${SEED})`, byChance(SEED)],
  ])('%s', (order, choice) => {
    test.beforeEach(({ pair, origins }) => pair.balancer.route(origins, choice))

    test.for(SIGN_IN_VARIANTS)(
      'serve every protocol request of a web client by %s',
      async ([name, variant], { tenant, pair, receiver }) => {
        const path = `/${encodeURIComponent(`${order} ${name}`)}`
        const more = { allowedLogoutUrls: [SIGNED_OUT], backchannelLogoutUrl: receiver.urlOf(path) }
        const { person, client, config, by, browser, redeem } = await authorizeBy(variant, pair, tenant, more)
        const tokens = await redeem()
        expect(tokens).toMatchObject({ token_type: variant.isBound ? 'dpop' : 'bearer', scope: SCOPE })
        const info = await openid.fetchUserInfo(config, tokens.access_token, person.id, by)
        expect(info).toMatchObject({ name: 'Ada Lovelace', email: person.email })

        const refreshed = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '', undefined, by)
        expect(refreshed.claims()?.sub).toBe(person.id)
        const { access_token: accessToken, refresh_token: refreshToken = '' } = refreshed
        const introspect = () =>
          Promise.all([accessToken, refreshToken].map((token) => openid.tokenIntrospection(config, token)))
        const active = { active: true, sub: person.id, client_id: client.id }
        expect(await introspect()).toMatchObject([active, active])
        await openid.tokenRevocation(config, refreshToken)
        expect(await introspect()).toEqual([{ active: false }, { active: false }])
        await expect(openid.refreshTokenGrant(config, refreshToken, undefined, by)).rejects.toMatchObject({
          error: 'invalid_grant',
        })

        const end = openid.buildEndSessionUrl(config, {
          id_token_hint: tokens.id_token ?? '',
          post_logout_redirect_uri: SIGNED_OUT,
          state: 'bye',
        })
        const left = await browser.open(end.pathname + end.search)
        expect(left.location).toBe(`${SIGNED_OUT}?state=bye`)
        signedOut.push(path)
        const [heard] = await receiver.waitFor(path)
        const { claims } = await validateLogoutToken(pair.origin, tenant.slug, client.id, heard as never)
        expect(claims.sid).toBe(tokens.claims()?.sid)
      },
    )

    test('return the same successor to 50 concurrent refreshes', async ({ tenant, pair }) => {
      const { config, redeem } = await authorizeBy({}, pair, tenant)
      const { refresh_token: token = '' } = await redeem()
      const answers = await Promise.allSettled(
        Array.from({ length: 50 }, () => openid.refreshTokenGrant(config, token)),
      )
      const successors = new Set<string>()
      for (const answer of answers)
        if (answer.status === 'fulfilled') successors.add(answer.value.refresh_token ?? '')
        else expect(answer.reason).toMatchObject({ error: 'invalid_grant' })
      expect(successors.size).toBe(1)
      const [successor = ''] = successors
      expect((await openid.refreshTokenGrant(config, successor)).refresh_token).not.toBe(successor)
    })

    test('issue tokens once for 50 concurrent redemptions of a code, and revoke them', async ({
      tenant,
      pair,
    }) => {
      const { config, redeem } = await authorizeBy({}, pair, tenant)
      const answers = await Promise.allSettled(Array.from({ length: 50 }, redeem))
      const [tokens, ...others] = answers.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
      expect(others).toEqual([])
      for (const answer of answers)
        if (answer.status === 'rejected') expect(answer.reason).toMatchObject({ error: 'invalid_grant' })
      expect(await openid.tokenIntrospection(config, tokens?.access_token ?? '')).toEqual({ active: false })
    })

    test('issue a machine client a token that reads users and is verified by the published keys', async ({
      tenant,
    }) => {
      const fields = { appType: 'machine', callbacks: [], scopes: ['users:read'] }
      const { id, secret } = await tenant.makeClient(fields)
      const config = await discover(tenant, id, openid.ClientSecretPost(secret))
      const { access_token: token } = await openid.clientCredentialsGrant(config)
      const url = new URL(`${tenant.issuer}/api/v1/users?pageSize=1`)
      for (let call = 0; call < 2; call++)
        expect((await openid.fetchProtectedResource(config, token, url, 'GET')).status).toBe(200)
      const keys = createRemoteJWKSet(new URL(config.serverMetadata().jwks_uri ?? ''))
      const audience = `${tenant.issuer}/api`
      const { payload } = await jwtVerify(token, keys, { issuer: tenant.issuer, audience, typ: 'at+jwt' })
      expect(payload.client_id).toBe(id)
    })

    test('connect a device (RFC 8628)', async ({ tenant, pair }) => {
      const person = await tenant.makePerson()
      const { id } = await tenant.makeClient({ appType: 'native' })
      const config = await discover(tenant, id, openid.None())
      const browser = new PageBrowser(pair.origin)
      await signInThrough(pair, authorizePath(tenant.slug, { id }), person.email, browser)
      const begun = await openid.initiateDeviceAuthorization(config, { scope: 'openid email' })
      const allowed = await decide(browser as Browser, tenant.slug, begun.user_code, 'allow')
      expect(allowed.status).toBe(200)
      // The user decided before the first poll, which need not wait.
      const tokens = await openid.pollDeviceAuthorizationGrant(config, { ...begun, interval: 0 })
      expect(tokens.claims()?.sub).toBe(person.id)
      const info = await openid.fetchUserInfo(config, tokens.access_token, person.id)
      expect(info.email).toBe(person.email)
    })
  })

  test.for([0, 1])(
    'complete a sign-in whose steps alternate, beginning at process %i',
    async (first, { tenant, pair, origins }) => {
      const person = await tenant.makePerson()
      const client = await tenant.makeClient()
      let at = first
      pair.balancer.route(origins, () => at)
      const browser = new PageBrowser(pair.origin)
      const pageOf = async ({ response, path }: Awaited<ReturnType<typeof browser.open>>) => {
        at = 1 - at
        return { html: await response.text(), path }
      }
      const form = await pageOf(await browser.open(authorizePath(tenant.slug, client)))
      const sent = await pageOf(await browser.submit(form, { step: 'email', address: person.email }))
      const code = await pair.codeFor(person.email)
      const wrongCode = String((Number(code) + 1) % 1_000_000).padStart(6, '0')
      const wrong = await pageOf(await browser.submit(sent, { step: 'code', code: wrongCode }))
      expect(wrong.html).toContain('role="alert"')
      const arrived = await browser.submit(wrong, { step: 'code', code })
      expect(arrived.location).toMatch(/^https:\/\/rp\.example\.com\/cb\?code=/)
    },
  )

  test('redeem a request_uri once that was pushed to the other process', async ({
    tenant,
    pair,
    origins,
  }) => {
    const person = await tenant.makePerson()
    const { id, secret } = await tenant.makeClient()
    const browser = new PageBrowser(pair.origin)
    pair.balancer.route(origins, inTurns())
    await signInThrough(pair, authorizePath(tenant.slug, { id }), person.email, browser)
    const query = authorizePath(tenant.slug, { id }, { prompt: 'none' }).split('?')[1]
    const pushed = await fetch(`${origins[0]}/${tenant.slug}/oidc/par`, {
      method: 'POST',
      headers: { authorization: basic({ id, secret }) },
      body: new URLSearchParams(query),
    })
    const { request_uri: requestUri = '' } = (await pushed.json()) as { request_uri?: string }
    const params = new URLSearchParams({ client_id: id, request_uri: requestUri })
    const path = `/${tenant.slug}/oidc/authorize?${params}`
    pair.balancer.route([origins[1] ?? ''], inTurns())
    expect(answerIn((await browser.fetch(path)).headers.get('location'))).toHaveProperty('code')
    pair.balancer.route([origins[0] ?? ''], inTurns())
    expect((await browser.fetch(path)).status).toBe(400)
  })

  test('share the requests, stop by SIGTERM, and notify clients of each logout once', async ({
    pair,
    origins,
    receiver,
  }) => {
    for (const origin of origins) expect(pair.balancer.served.get(origin)).toBeGreaterThan(100)
    const stopped = await pair.stop()
    expect(stopped).toEqual([0, 0])
    expect(signedOut).toHaveLength(2 * SIGN_IN_VARIANTS.length)
    for (const path of signedOut) expect(receiver.heardAt(path)).toHaveLength(1)
  })
})
