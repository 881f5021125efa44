import * as openid from 'openid-client'
import { describe, expect } from 'vitest'
import { deleteClient, updateClient } from '../../../src/clients/client-changes.ts'
import { createPlatformCtx } from '../../../src/context/context.ts'
import { sha256 } from '../../../src/core/crypto.ts'
import { apiAudienceOf } from '../../../src/core/issuer.ts'
import { newTenant } from '../../support/actors.ts'
import { listAlterations } from '../../support/attacks.ts'
import { dbFor } from '../../support/database.ts'
import { newRequest } from '../../support/openid-client.ts'
import type { PageBrowser } from '../../support/page-browser.ts'
import { makeKey } from '../../support/proofs.ts'
import { answerIn, REDIRECT_URI } from '../../support/protocol.ts'
import { type Own, PREFIX, test } from '../../support/pushed-requests.ts'

describe('a request_uri at the authorization endpoint (RFC 9126, section 4)', () => {
  test('selects the pushed request and ignores other parameters of the URL', async ({
    client,
    oidc,
    visitor,
    pushRequest,
    pathFor,
  }) => {
    const requestUri = await pushRequest({ state: 'pushed', scope: 'openid email', prompt: 'none' })
    const path = pathFor(requestUri, client, {
      state: 'in the URL',
      redirect_uri: 'https://evil.example/cb',
      scope: 'openid phone',
      prompt: 'login',
      request: 'e30.e30.',
    })
    const answer = (await visitor.browser.fetch(path)).headers.get('location') as string
    expect(answer.startsWith(`${REDIRECT_URI}?`)).toBe(true)
    expect(answerIn(answer).state).toBe('pushed')
    const { body } = await oidc.exchange(answerIn(answer).code as string)
    expect(body.scope).toBe('openid email')
  })

  test('may represent several resources, and for a request that fails later', async ({
    tenant,
    client,
    newBrowser,
    good,
    push,
    pathFor,
  }) => {
    const form = good(client, { prompt: 'none', state: 's' })
    const api = apiAudienceOf(tenant)
    form.append('resource', api)
    form.append('resource', api)
    const { body } = await push(form)
    const { location } = await newBrowser().open(pathFor(body.request_uri as string))
    expect(answerIn(location)).toMatchObject({ error: 'login_required', state: 's' })
  })

  test.for<[name: string, path: (own: Own) => Promise<string>]>([
    ['an unknown one', async ({ pathFor }) => pathFor(PREFIX + 'A'.repeat(43))],
    ['an empty one', async ({ pathFor }) => pathFor(PREFIX)],
    [
      'one of another client',
      async ({ pathFor, pushRequest, other }) => pathFor(await pushRequest({}, other)),
    ],
    [
      'one without a client_id',
      async ({ pathFor, pushRequest }) => pathFor(await pushRequest()).replace(/client_id=[^&]*&/, ''),
    ],
    [
      'one with two client_ids',
      async ({ pathFor, pushRequest, other }) => `${pathFor(await pushRequest())}&client_id=${other.id}`,
    ],
    [
      'one of another tenant',
      async ({ pathFor, pushRequest, client }) => pathFor(await pushRequest(), client, {}, await newTenant()),
    ],
    [
      'one with another one',
      async ({ pathFor, pushRequest }) => `${pathFor(await pushRequest())}&request_uri=x`,
    ],
  ])(
    'is rejected on an error page: %s',
    async ([_name, path], { client, visitor, pushRequest, pathFor, countInteractions, other }) => {
      const before = await countInteractions()
      const response = await visitor.browser.fetch(await path({ pathFor, pushRequest, client, other }))
      expect([response.status, response.headers.get('location')]).toEqual([400, null])
      expect(await countInteractions()).toBe(before)
    },
  )

  test('is recorded as invalid_request_uri when it was used before', async ({
    tenant,
    visitor,
    pushRequest,
    pathFor,
  }) => {
    const path = pathFor(await pushRequest())
    await visitor.browser.fetch(path)
    const html = await (await visitor.browser.fetch(path)).text()
    expect(html).toContain('The request_uri is unknown, expired or already used.')
    const event = await dbFor(tenant).event.findFirst({
      where: { tenantId: tenant, type: 'authorize.refused' },
      orderBy: { seq: 'desc' },
    })
    expect(event?.detail).toMatchObject({
      error: 'invalid_request_uri',
      reason: expect.stringContaining('used before'),
    })
  })

  test('is rejected when it is altered', async ({ visitor, pushRequest, pathFor }) => {
    const requestUri = await pushRequest()
    for (const [name, altered] of listAlterations(requestUri.slice(PREFIX.length))) {
      const response = await visitor.browser.fetch(pathFor(PREFIX + altered))
      expect([name, response.headers.get('location')]).toEqual([name, null])
    }
    expect((await visitor.browser.fetch(pathFor(requestUri))).status).toBe(303)
  })

  test('expires after 90 seconds', async ({ tenant, visitor, pushRequest, pathFor }) => {
    const requestUri = await pushRequest()
    const id = { tenantId: tenant, requestHash: sha256(requestUri.slice(PREFIX.length)) }
    const row = await dbFor(tenant).pushedRequest.findUniqueOrThrow({
      where: { tenantId_requestHash: id },
    })
    expect(row.expiresAt.getTime() - row.createdAt.getTime()).toBe(90_000)
    await dbFor(tenant).pushedRequest.update({
      where: { tenantId_requestHash: id },
      data: { expiresAt: new Date(Date.now() - 1) },
    })
    expect((await visitor.browser.fetch(pathFor(requestUri))).status).toBe(400)
  })

  test('issues one code, as a GET or a POST request', async ({
    app,
    tenant,
    visitor,
    pushRequest,
    pathFor,
  }) => {
    const post = (path: string) =>
      app.fetch(`/${tenant}/oidc/authorize`, {
        method: 'POST',
        body: new URLSearchParams(path.split('?')[1]),
      })
    const path = pathFor(await pushRequest())
    const issued = await visitor.browser.fetch(path)
    expect(answerIn(issued.headers.get('location'))).toHaveProperty('code')
    expect((await visitor.browser.fetch(path)).status).toBe(400)
    expect((await post(path)).status).toBe(400)
    const posted = pathFor(await pushRequest())
    const page = await post(posted)
    const answer = await visitor.browser.follow(page)
    expect(answerIn(answer.location)).toHaveProperty('code')
    expect((await visitor.browser.fetch(posted)).status).toBe(400)
    expect((await post(posted)).status).toBe(400)
  })

  test('does not prevent a reload of the sign-in page', async ({ newBrowser, pushRequest, pathFor }) => {
    const browser = newBrowser()
    const page = await browser.open(pathFor(await pushRequest()))
    expect(page.response.status).toBe(200)
    expect((await browser.fetch(page.path)).status).toBe(200)
  })

  test('is accepted once when it is used 50 times concurrently', async ({
    newBrowser,
    visitor,
    pushRequest,
    pathFor,
    countInteractions,
  }) => {
    const fifty = (browser: PageBrowser, path: string) =>
      Promise.all(Array.from({ length: 50 }, () => browser.fetch(path)))
    const silent = await fifty(visitor.browser, pathFor(await pushRequest({ prompt: 'none' })))
    expect(silent.filter(({ status }) => status === 303)).toHaveLength(1)
    expect(silent.filter(({ status }) => status === 400)).toHaveLength(49)
    const before = await countInteractions()
    await fifty(newBrowser(), pathFor(await pushRequest()))
    expect(await countInteractions()).toBe(before + 1)
  })

  test('is rejected when its client has been deleted', async ({
    tenant,
    newClient,
    visitor,
    pushRequest,
    pathFor,
  }) => {
    const gone = await newClient()
    const path = pathFor(await pushRequest({}, gone), gone)
    await deleteClient(createPlatformCtx(tenant), gone.id)
    expect((await visitor.browser.fetch(path)).status).toBe(400)
  })

  test('is rejected when its redirect_uri is no longer registered', async ({
    tenant,
    newClient,
    visitor,
    pushRequest,
    pathFor,
  }) => {
    const moved = await newClient()
    const path = pathFor(await pushRequest({}, moved), moved)
    await updateClient(createPlatformCtx(tenant), moved.id, { callbacks: ['https://elsewhere.example/cb'] })
    const response = await visitor.browser.fetch(path)
    expect([response.status, response.headers.get('location')]).toEqual([400, null])
  })

  test('is rejected and not fetched when it was not pushed (OIDC Core, section 3.1.2.6)', async ({
    oidc,
    visitor,
  }) => {
    const path = oidc.authorizePath({ request_uri: 'http://169.254.169.254/latest' })
    expect(answerIn((await visitor.browser.fetch(path)).headers.get('location'))).toMatchObject({
      error: 'request_uri_not_supported',
      state: 'a-state',
    })
  })
})

describe.each([
  ['web', { appType: 'web' }, (secret: string) => openid.ClientSecretBasic(secret)],
  ['web by client_secret_post', { appType: 'web' }, (secret: string) => openid.ClientSecretPost(secret)],
  [
    'web by private_key_jwt',
    { appType: 'web', hasKey: true },
    (_secret: string, key: CryptoKey) => openid.PrivateKeyJwt({ key, kid: 'k1' }),
  ],
  ['single-page', { appType: 'single-page' }, () => openid.None()],
])(
  'a relying party that pushes its requests: %s',
  (_name, { hasKey = false, ...own }: { appType: string; hasKey?: boolean }, authentication) => {
    test.for([false, true])(
      'signs a user in, with DPoP: %s (RFC 9449, section 10.1)',
      async (withKey, { newClient, visitor, discover }) => {
        const key = await makeKey()
        const jwks = { keys: [{ ...key.jwk, kid: 'k1', alg: 'ES256', use: 'sig' }] }
        const party = await newClient({ ...own, ...(hasKey && { jwks }), requirePushedRequests: true })
        const config = await discover(party, authentication(party.secret, key.privateKey))
        expect(config.serverMetadata()).toMatchObject({ require_pushed_authorization_requests: false })
        const keyed = async () => ({ DPoP: openid.getDPoPHandle(config, await openid.randomDPoPKeyPair()) })
        const by = withKey ? await keyed() : {}
        const { checks, parameters } = await newRequest()
        const url = await openid.buildAuthorizationUrlWithPAR(config, parameters, by)
        expect([...url.searchParams.keys()].sort()).toEqual(['client_id', 'request_uri'])
        const answer = await visitor.browser.fetch(url.pathname + url.search)
        const location = new URL(answer.headers.get('location') as string)
        if (withKey)
          for (const other of [await keyed(), {}])
            await expect(
              openid.authorizationCodeGrant(config, location, checks, undefined, other),
            ).rejects.toMatchObject({ error: 'invalid_grant' })
        const tokens = await openid.authorizationCodeGrant(config, location, checks, undefined, by)
        expect(tokens.token_type).toBe(withKey ? 'dpop' : 'bearer')
        expect(tokens.claims()).toMatchObject({ aud: party.id, nonce: checks.expectedNonce })
      },
    )
  },
)
