import { createRemoteJWKSet, jwtVerify } from 'jose'
import * as oidc from 'openid-client'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { PageBrowser } from '../support/page-browser.ts'
import { type Pair, type PairTenant, signInThrough, startPair } from '../support/pair.ts'
import { byChance, inTurns } from '../support/round-robin.ts'
import { decide } from './device-flow.ts'
import { type LogoutReceiver, startLogoutReceiver, validateLogoutToken } from './logout-receiver.ts'
import { authorizePath, type Browser } from './provider.ts'
import { arriveBy, discover, SCOPE, WAYS } from './ways.ts'

// Relying parties that know one origin, and two processes behind it that share nothing but PostgreSQL and Redis: whatever one
// process gave out (codes, pushed requests, nonces, pages, tokens), the other must take.

const SIGNED_OUT = 'https://rp.example.com/signed-out'
/** Given in the environment, to see again what chance once brought. */
const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000)

// The embedded database is one process's.
describe.runIf(inject('database').kind === 'postgres')('two processes behind one origin', () => {
  let pair: Pair
  let tenant: PairTenant
  let origins: string[]
  let receiver: LogoutReceiver
  let stopped: (number | null)[] | undefined
  /** Where clients were told that somebody signed out. */
  const signedOut: string[] = []

  beforeAll(async () => {
    ;[pair, receiver] = await Promise.all([startPair(), startLogoutReceiver()])
    origins = pair.servers.map(({ origin }) => origin)
    tenant = await pair.newTenant()
  }, 90_000)
  afterAll(async () => {
    if (!stopped) await pair?.stop()
    await receiver?.close()
  })

  describe.each([
    ['each request to the other one', inTurns()],
    [`each request to either by chance (SEED=${SEED})`, byChance(SEED)],
  ])('%s', (order, choice) => {
    beforeAll(() => pair.balancer.route(origins, choice))

    test.each(WAYS)('openid-client does everything by %s', async (name, way) => {
      const told = `/${encodeURIComponent(`${order} ${name}`)}`
      const more = { allowedLogoutUrls: [SIGNED_OUT], backchannelLogoutUrl: receiver.urlOf(told) }
      const { person, client, config, by, browser, redeem } = await arriveBy(way, pair, tenant, more)
      const tokens = await redeem()
      expect(tokens).toMatchObject({ token_type: way.isBound ? 'dpop' : 'bearer', scope: SCOPE })
      const info = await oidc.fetchUserInfo(config, tokens.access_token, person.id, by)
      expect(info).toMatchObject({ name: 'Ada Lovelace', email: person.email })

      const refreshed = await oidc.refreshTokenGrant(config, tokens.refresh_token ?? '', undefined, by)
      expect(refreshed.claims()?.sub).toBe(person.id)
      const { access_token: accessToken, refresh_token: refreshToken = '' } = refreshed
      const introspect = () =>
        Promise.all([accessToken, refreshToken].map((token) => oidc.tokenIntrospection(config, token)))
      const active = { active: true, sub: person.id, client_id: client.id }
      expect(await introspect()).toMatchObject([active, active])
      await oidc.tokenRevocation(config, refreshToken)
      expect(await introspect()).toEqual([{ active: false }, { active: false }])
      await expect(oidc.refreshTokenGrant(config, refreshToken, undefined, by)).rejects.toMatchObject({
        error: 'invalid_grant',
      })

      const end = oidc.buildEndSessionUrl(config, {
        id_token_hint: tokens.id_token ?? '',
        post_logout_redirect_uri: SIGNED_OUT,
        state: 'bye',
      })
      const left = await browser.open(end.pathname + end.search)
      expect(left.location).toBe(`${SIGNED_OUT}?state=bye`)
      signedOut.push(told)
      const [heard] = await receiver.waitFor(told)
      const { claims } = await validateLogoutToken(pair.origin, tenant.slug, client.id, heard as never)
      expect(claims.sid).toBe(tokens.claims()?.sid)
    })

    test('security 20: openid-client refreshes 50 times at once, and whoever succeeds has the same successor', async () => {
      const { config, redeem } = await arriveBy({}, pair, tenant)
      const { refresh_token: token = '' } = await redeem()
      const answers = await Promise.allSettled(
        Array.from({ length: 50 }, () => oidc.refreshTokenGrant(config, token)),
      )
      const successors = new Set<string>()
      for (const answer of answers)
        if (answer.status === 'fulfilled') successors.add(answer.value.refresh_token ?? '')
        else expect(answer.reason).toMatchObject({ error: 'invalid_grant' })
      expect(successors.size).toBe(1)
      const [successor = ''] = successors
      expect((await oidc.refreshTokenGrant(config, successor)).refresh_token).not.toBe(successor)
    })

    test('security 22: openid-client redeems a code 50 times at once, has tokens once, and the replays end them', async () => {
      const { config, redeem } = await arriveBy({}, pair, tenant)
      const answers = await Promise.allSettled(Array.from({ length: 50 }, redeem))
      const [tokens, ...others] = answers.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
      expect(others).toEqual([])
      for (const answer of answers)
        if (answer.status === 'rejected') expect(answer.reason).toMatchObject({ error: 'invalid_grant' })
      expect(await oidc.tokenIntrospection(config, tokens?.access_token ?? '')).toEqual({ active: false })
    })

    test('a machine reads users by its token, which a resource server verifies by the published keys', async () => {
      const fields = { appType: 'machine', callbacks: [], scopes: ['users:read'] }
      const { id, secret } = await tenant.makeClient(fields)
      const config = await discover(tenant, id, oidc.ClientSecretPost(secret))
      const { access_token: token } = await oidc.clientCredentialsGrant(config)
      const url = new URL(`${tenant.issuer}/api/v1/users?pageSize=1`)
      for (let call = 0; call < 2; call++)
        expect((await oidc.fetchProtectedResource(config, token, url, 'GET')).status).toBe(200)
      const keys = createRemoteJWKSet(new URL(config.serverMetadata().jwks_uri ?? ''))
      const audience = `${tenant.issuer}/api`
      const { payload } = await jwtVerify(token, keys, { issuer: tenant.issuer, audience, typ: 'at+jwt' })
      expect(payload.client_id).toBe(id)
    })

    test('a device is connected by a person at a browser (RFC 8628)', async () => {
      const person = await tenant.makePerson()
      const { id } = await tenant.makeClient({ appType: 'native' })
      const config = await discover(tenant, id, oidc.None())
      const browser = new PageBrowser(pair.origin)
      await signInThrough(pair, authorizePath(tenant.slug, { id }), person.email, browser)
      const begun = await oidc.initiateDeviceAuthorization(config, { scope: 'openid email' })
      const allowed = await decide(browser as Browser, tenant.slug, begun.user_code, 'allow')
      expect(allowed.status).toBe(200)
      // The person was faster than the first poll, so that nobody need wait for it.
      const tokens = await oidc.pollDeviceAuthorizationGrant(config, { ...begun, interval: 0 })
      expect(tokens.claims()?.sub).toBe(person.id)
      const info = await oidc.fetchUserInfo(config, tokens.access_token, person.id)
      expect(info.email).toBe(person.email)
    })
  })

  test.each([0, 1])('a sign-in whose steps are taken by turns, the page by process %i', async (first) => {
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
  })

  test('both had their part in it, stop by SIGTERM, and told nobody of a logout twice', async () => {
    for (const origin of origins) expect(pair.balancer.served.get(origin)).toBeGreaterThan(100)
    stopped = await pair.stop()
    expect(stopped).toEqual([0, 0])
    expect(signedOut).toHaveLength(2 * WAYS.length)
    for (const path of signedOut) expect(receiver.heardAt(path)).toHaveLength(1)
  })
})
