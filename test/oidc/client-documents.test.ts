import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair } from 'jose'
import * as oidc from 'openid-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../support/process.ts'

// The issuer must be where the provider listens: the environment is read with the first import of src.
const port = await freePort()
process.env.BASE_URL = `http://localhost:${port}`
process.env.PORT = String(port)
const { forgetClient } = await import('../../src/clients/client-cache.ts')
const { updateClient } = await import('../../src/clients/client-changes.ts')
const { createClient } = await import('../../src/clients/clients.ts')
const { platformCtx } = await import('../../src/ctx.ts')
const { dbFor } = await import('../../src/db.ts')
const { describeError } = await import('../../src/errors.ts')
const { freshSeconds, isDocumentId } = await import('../../src/registration/client-document.fields.ts')
const { updateSettings } = await import('../../src/tenants/settings.ts')
const { newTenant, tokenFor } = await import('../support/actors.ts')
const { startApp } = await import('../support/app.ts')
const { logOf } = await import('../support/events.ts')
const { answerIn, authorizePath, Browser, exchange, makeUser, REDIRECT_URI, signInAt, tokenRequest } =
  await import('./provider.ts')

type Serve = (response: ServerResponse, url: string) => void
let app: Awaited<ReturnType<typeof startApp>>
let tenant: string

/** Where clients publish their documents: what each path answers, and how often it was asked for. */
const documents = new Map<string, Serve>()
const asked: string[] = []
const host = createServer((request, response) => {
  const path = request.url ?? '/'
  asked.push(path)
  const serve = documents.get(path)
  if (serve) serve(response, `${origin}${path}`)
  else response.writeHead(404).end()
}).listen(0, '127.0.0.1')
await once(host, 'listening')
const origin = `http://127.0.0.1:${(host.address() as AddressInfo).port}`
const timesAsked = (clientId: string) => asked.filter((path) => origin + path === clientId).length

let published = 0
const json =
  (metadata: object, headers: Record<string, string> = {}): Serve =>
  (response, url) =>
    response
      .writeHead(200, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify({ client_id: url, redirect_uris: [REDIRECT_URI], ...metadata }))
/** Publishes a document under a path of its own; its URL is the client_id. */
function publish(serve: Serve, name = 'client'): string {
  published += 1
  const path = `/${name}-${published}.json`
  documents.set(path, serve)
  return origin + path
}
const republish = (clientId: string, serve: Serve) => documents.set(new URL(clientId).pathname, serve)

const newOpenTenant = async () => {
  const slug = await newTenant()
  await updateSettings(platformCtx(slug), { clientIdMetadataDocuments: true })
  return slug
}
const authorize = (clientId: string, more: Record<string, string> = {}, of = tenant) =>
  app.fetch(authorizePath(of, { id: clientId }, more))
/** Whether the provider goes on with a request of that client. */
const isTaken = async (clientId: string, of = tenant) => (await authorize(clientId, {}, of)).status === 303
const rowOf = (clientId: string, of = tenant) =>
  dbFor(of).client.findUnique({ where: { tenantId_id: { tenantId: of, id: clientId } } })
/** Makes the document one that was read so long ago. */
async function age(clientId: string, secondsPastFresh: number) {
  await dbFor(tenant).client.update({
    where: { tenantId_id: { tenantId: tenant, id: clientId } },
    data: { documentFreshUntil: new Date(Date.now() - secondsPastFresh * 1000) },
  })
  forgetClient(tenant, clientId)
}
const whyRefused = async (of = tenant) => (await logOf(of)).at(-1)?.detail?.reason

beforeAll(async () => {
  app = await startApp()
  tenant = await newOpenTenant()
  await tokenFor(tenant)
})
afterAll(async () => {
  host.closeAllConnections()
  host.close()
  await app.close()
})

test('which client_ids are URLs of documents (draft, section 3): in one spelling, without anything that hides', () => {
  for (const good of [
    'https://app.example.com/client.json',
    'https://app.example.com:8443/',
    'https://app.example.com/client?v=1',
    'http://127.0.0.1:8080/client',
  ])
    expect([good, isDocumentId(good)]).toEqual([good, true])
  for (const bad of [
    'https://app.example.com',
    'https://APP.example.com/client',
    'https://app.example.com:443/client',
    'https://app.example.com/a/../client',
    'https://app.example.com/a/%2e%2e/client',
    'https://app.example.com/client#part',
    'https://user:password@app.example.com/client',
    'https://app.example.com\\client',
    'http://app.example.com/client',
    'ftp://app.example.com/client',
    'client_01m7xeb1sbendby702xerkqv3p',
    `https://app.example.com/${'x'.repeat(200)}`,
  ])
    expect([bad, isDocumentId(bad)]).toEqual([bad, false])
})

test('how long a document counts as read, by its Cache-Control: five minutes to a day', () => {
  for (const [header, seconds] of [
    [null, 3600],
    ['public, max-age=7200', 7200],
    ['max-age=1', 300],
    ['max-age=99999999', 86_400],
    ['no-store', 300],
    ['no-cache, max-age=7200', 300],
    ['nonsense', 3600],
  ] as const)
    expect([header, freshSeconds(header)]).toEqual([header, seconds])
})

describe('a client that nobody registered', () => {
  test('openid-client signs a person in, who sees whose client it is', async () => {
    const clientId = publish(
      json(
        { client_name: 'Your bank', logo_uri: 'https://bank.example/logo.png' },
        { 'cache-control': 'max-age=600' },
      ),
    )
    const user = await makeUser(tenant, 'ada@example.com')
    const issuer = new URL(`http://localhost:${port}/${tenant}`)
    const config = await oidc.discovery(issuer, clientId, undefined, oidc.None(), {
      execute: [oidc.allowInsecureRequests],
    })
    expect(config.serverMetadata().client_id_metadata_document_supported).toBe(true)
    const checks = { pkceCodeVerifier: oidc.randomPKCECodeVerifier(), expectedState: oidc.randomState() }
    const url = oidc.buildAuthorizationUrl(config, {
      redirect_uri: REDIRECT_URI,
      scope: 'openid email users:read',
      state: checks.expectedState,
      code_challenge: await oidc.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
      code_challenge_method: 'S256',
    })
    const browser = new Browser(app)
    const consent = await signInAt(browser, url.pathname + url.search, 'ada@example.com')
    const html = await consent.response.text()
    expect(html).toContain('Your bank')
    expect(html).toContain(new URL(clientId).host)
    expect(html).not.toContain('logo.png')
    const { location } = await browser.submit({ html, path: consent.path }, { step: 'allow' })
    const tokens = await oidc.authorizationCodeGrant(config, new URL(location as string), checks)
    expect(tokens.claims()).toMatchObject({ sub: user.id, aud: clientId })
    expect(tokens.scope).toBe('openid email')
    expect(timesAsked(clientId)).toBe(1)
    expect(await rowOf(clientId)).toMatchObject({
      registeredBy: 'document',
      requireConsent: true,
      scopes: [],
      logoUrl: null,
      appType: 'single-page',
      allowedOrigins: ['https://rp.example.com'],
    })
    const freshFor = ((await rowOf(clientId))?.documentFreshUntil?.getTime() ?? 0) - Date.now()
    expect(freshFor).toBeGreaterThan(500_000)
    expect(freshFor).toBeLessThanOrEqual(600_000)
  })

  test('pushes its request, by its keys (RFC 9126)', async () => {
    const { publicKey, privateKey } = await generateKeyPair('ES256')
    const clientId = publish(
      json({
        token_endpoint_auth_method: 'private_key_jwt',
        jwks: { keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256' }] },
      }),
    )
    const config = await oidc.discovery(
      new URL(`http://localhost:${port}/${tenant}`),
      clientId,
      undefined,
      oidc.PrivateKeyJwt(privateKey),
      { execute: [oidc.allowInsecureRequests] },
    )
    const url = await oidc.buildAuthorizationUrlWithPAR(config, {
      redirect_uri: REDIRECT_URI,
      scope: 'openid',
      code_challenge: await oidc.calculatePKCECodeChallenge(oidc.randomPKCECodeVerifier()),
      code_challenge_method: 'S256',
    })
    expect((await app.fetch(url.pathname + url.search)).status).toBe(303)
    expect(await rowOf(clientId)).toMatchObject({ appType: 'web', registeredBy: 'document' })
  })

  test('of twenty first uses at once, one reads the document and one row is made', async () => {
    const slug = await newOpenTenant()
    const clientId = publish((response, url) => setTimeout(() => json({})(response, url), 50))
    const taken = await Promise.all(Array.from({ length: 20 }, () => isTaken(clientId, slug)))
    expect(taken).toEqual(Array(20).fill(true))
    expect(timesAsked(clientId)).toBe(1)
    const made = (await logOf(slug)).filter(({ type }) => type === 'client.created')
    expect(made).toMatchObject([{ subjectIds: [clientId], detail: { by: 'document' } }])
  })

  test('of several processes that make it at once, one does, and the others see that it is there', async () => {
    const slug = await newOpenTenant()
    const id = 'https://app.example.com/raced'
    const make = () =>
      createClient(
        platformCtx(slug),
        { name: 'Raced', appType: 'native', type: 'login' },
        { by: 'document', columns: { id }, hasSecret: false },
      )
    const results = await Promise.allSettled(Array.from({ length: 8 }, make))
    const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
    expect(failures.map((failure) => describeError(failure).code)).toEqual(Array(7).fill('CONFLICT'))
    expect((await logOf(slug)).filter(({ type }) => type === 'client.created')).toHaveLength(1)
  })

  test('native applications are answered on any loopback port (RFC 8252, section 7.3)', async () => {
    const clientId = publish(json({ redirect_uris: ['http://127.0.0.1/cb', 'com.example.app:/cb'] }))
    const answer = await authorize(clientId, { redirect_uri: 'http://127.0.0.1:51234/cb' })
    expect(answer.status).toBe(303)
    expect((await rowOf(clientId))?.appType).toBe('native')
  })
})

describe('security 52: what has the service fetch something', () => {
  test('no endpoint but authorize and par, and none while the tenant has not turned it on', async () => {
    const clientId = publish(json({}))
    const closed = await newTenant()
    expect(await isTaken(clientId, closed)).toBe(false)
    const client = { id: clientId, secret: '' }
    expect((await exchange(app, tenant, client, 'x')).status).toBe(401)
    expect((await tokenRequest(app, tenant, client, { grant_type: 'client_credentials' })).status).toBe(401)
    for (const path of ['device', 'revoke', 'introspect'])
      await app.fetch(`/${tenant}/oidc/${path}`, {
        method: 'POST',
        body: new URLSearchParams({ client_id: clientId, token: 'x', scope: 'openid' }),
      })
    for (const path of ['logout', 'initiate'])
      await app.fetch(`/${tenant}/oidc/${path}?${new URLSearchParams({ client_id: clientId })}`)
    expect(timesAsked(clientId)).toBe(0)
    expect(await isTaken(clientId)).toBe(true)
    expect(timesAsked(clientId)).toBe(1)
  })

  test('nothing that the document names is fetched', async () => {
    const clientId = publish(
      json({ logo_uri: `${origin}/logo.png`, client_uri: `${origin}/home`, tos_uri: `${origin}/terms` }),
    )
    expect(await isTaken(clientId)).toBe(true)
    expect(asked.filter((path) => /logo|home|terms/.test(path))).toEqual([])
  })

  test('redirects are not followed', async () => {
    const target = publish(json({}), 'target')
    const clientId = publish((response) => response.writeHead(302, { location: target }).end())
    expect(await isTaken(clientId)).toBe(false)
    expect(timesAsked(target)).toBe(0)
    expect(await whyRefused()).toContain('redirects elsewhere')
  })

  test('what cannot be used is not asked for again at once', async () => {
    const clientId = `${origin}/missing.json`
    for (let times = 0; times < 5; times++) expect(await isTaken(clientId)).toBe(false)
    expect(timesAsked(clientId)).toBe(1)
  })

  test('each network has so many fetches an hour', async () => {
    const slug = await newOpenTenant()
    const statuses = new Set<number>()
    for (let number = 0; number < 121; number++)
      statuses.add((await authorize(`${origin}/many-${number}`, {}, slug)).status)
    expect([...statuses]).toEqual([400, 429])
  })
})

describe('a document that cannot be used', () => {
  const long = `"${'x'.repeat(70_000)}"`
  test.each<[string, Serve, string]>([
    ['of another client_id', json({ client_id: 'https://other.example/client' }), 'client_id must be'],
    ['without a client_id', json({ client_id: undefined }), 'client_id'],
    ['without redirect_uris', json({ redirect_uris: undefined }), 'redirect_uris'],
    ['with a redirect URI that runs', json({ redirect_uris: ['javascript:alert(1)'] }), 'redirect_uris.0'],
    ['with a pattern', json({ redirect_uris: ['https://*.example.com/cb'] }), 'redirect_uris.0'],
    ['with a secret', json({ client_secret: 'x' }), 'client_secret cannot'],
    [
      'with a method by secret',
      json({ token_endpoint_auth_method: 'client_secret_post' }),
      'token_endpoint_auth',
    ],
    ['with keys elsewhere', json({ jwks_uri: `${origin}/keys` }), 'jwks_uri is not fetched'],
    [
      'that is no JSON',
      (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{'),
      'not valid JSON',
    ],
    ['that is a page', json({}, { 'content-type': 'text/html' }), 'Content-Type is text/html'],
    [
      'that is no object',
      (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('[]'),
      'must be an object',
    ],
    [
      'that is too long',
      (response) => response.writeHead(200, { 'content-type': 'application/json' }).end(long),
      'more than 65536 bytes',
    ],
    ['that is gone', (response) => response.writeHead(410).end(), 'answers 410'],
    ['of a broken host', (response) => response.writeHead(500).end(), 'answers 500'],
  ])('%s: the person sees a page, the log says why, and nothing is kept', async (_title, serve, reason) => {
    const clientId = publish(serve)
    const answer = await authorize(clientId)
    expect(answer.status).toBe(400)
    expect(await answer.text()).toContain('metadata document')
    expect(await rowOf(clientId)).toBeNull()
    const entry = (await logOf(tenant)).at(-1)
    expect(entry).toMatchObject({ type: 'authorize.refused', detail: { client_id: clientId } })
    expect(entry?.detail?.reason).toContain(reason)
  })
})

describe('a document that was read before', () => {
  test('is read again once it is stale, and what changed is changed', async () => {
    const clientId = publish(json({ client_name: 'Before' }))
    expect(await isTaken(clientId)).toBe(true)
    expect(await isTaken(clientId)).toBe(true)
    expect(timesAsked(clientId)).toBe(1)
    republish(clientId, json({ client_name: 'After', redirect_uris: ['https://rp.example.com/other'] }))
    await age(clientId, 1)
    expect(await isTaken(clientId)).toBe(false) // its redirect URI is another now
    expect(timesAsked(clientId)).toBe(2)
    expect(await rowOf(clientId)).toMatchObject({
      name: 'After',
      callbacks: ['https://rp.example.com/other'],
      requireConsent: true,
    })
    const changes = (await logOf(tenant)).filter(
      ({ type, subjectIds }) => type === 'client.updated' && subjectIds.includes(clientId),
    )
    expect(changes).toMatchObject([{ changedFields: ['name', 'callbacks'], detail: { by: 'document' } }])
  })

  test('serves on for a day while its host does not answer, and no longer', async () => {
    const clientId = publish(json({}))
    expect(await isTaken(clientId)).toBe(true)
    republish(clientId, (response) => response.socket?.destroy())
    await age(clientId, 3600)
    expect(await isTaken(clientId)).toBe(true)
    expect(timesAsked(clientId)).toBe(2)
    await age(clientId, 86_401)
    expect(await isTaken(clientId)).toBe(false)
  })

  test.each<[string, Serve]>([
    ['has gone', (response) => response.writeHead(404).end()],
    ['became invalid', json({ redirect_uris: [] })],
  ])('refuses new authorizations at once when it %s', async (_title, serve) => {
    const clientId = publish(json({}))
    expect(await isTaken(clientId)).toBe(true)
    republish(clientId, serve)
    await age(clientId, 1)
    expect(await isTaken(clientId)).toBe(false)
    expect(await rowOf(clientId)).not.toBeNull()
  })

  test('security 64: it moves no callbacks once an administrator gave the client management scopes', async () => {
    const clientId = publish(json({}))
    expect(await isTaken(clientId)).toBe(true)
    await updateClient(platformCtx(tenant), clientId, { scopes: ['users:write'] })
    republish(clientId, json({ redirect_uris: ['https://evil.example/cb'] }))
    await age(clientId, 1)
    expect(await isTaken(clientId)).toBe(false)
    expect((await rowOf(clientId))?.callbacks).toEqual([REDIRECT_URI])
    expect(await whyRefused()).toContain('administrators alone')
  })
})

test('turned off, such clients are unusable at once, with the tokens that they have', async () => {
  const slug = await newOpenTenant()
  const clientId = publish(json({}))
  const client = { id: clientId, secret: '' }
  await makeUser(slug, 'eve@example.com')
  const browser = new Browser(app)
  const path = authorizePath(slug, client, { scope: 'openid offline_access', prompt: 'consent' })
  const consent = await signInAt(browser, path, 'eve@example.com')
  const html = await consent.response.text()
  const { location } = await browser.submit({ html, path: consent.path }, { step: 'allow' })
  const { status, body } = await exchange(app, slug, client, answerIn(location).code as string)
  expect(status).toBe(200)
  const refresh = () =>
    tokenRequest(app, slug, client, {
      grant_type: 'refresh_token',
      refresh_token: body.refresh_token as string,
    })
  expect((await refresh()).status).toBe(200)
  await updateSettings(platformCtx(slug), { clientIdMetadataDocuments: false })
  expect((await refresh()).status).toBe(401)
  expect(await isTaken(clientId, slug)).toBe(false)
  const metadata = await (await app.fetch(`/${slug}/.well-known/openid-configuration`)).json()
  expect(metadata).not.toHaveProperty('client_id_metadata_document_supported')
})

describe('administrators', () => {
  test('read and delete such a client over GraphQL by its id, over REST by the base64url of it', async () => {
    const clientId = publish(json({ client_name: 'Named by a URL' }))
    expect(await isTaken(clientId)).toBe(true)
    const token = await tokenFor(tenant)
    const { body } = await app.gql(
      tenant,
      token,
      'query($id: ID!) { client(id: $id) { id registeredBy } node(id: $id) { __typename id } }',
      { id: clientId },
    )
    expect(body.data).toEqual({
      client: { id: clientId, registeredBy: 'DOCUMENT' },
      node: { __typename: 'Client', id: clientId },
    })
    const path = `/clients/url_${Buffer.from(clientId).toString('base64url')}`
    expect((await app.rest(tenant, token, 'GET', path)).body).toMatchObject({
      id: clientId,
      registeredBy: 'document',
    })
    expect((await app.rest(tenant, token, 'GET', '/clients?pageSize=1000')).status).toBe(200)
    expect((await app.rest(tenant, token, 'GET', `${path}x`)).status).toBe(404)
    expect((await app.rest(tenant, token, 'GET', `/clients/${encodeURIComponent(clientId)}`)).status).toBe(
      404,
    )
    expect((await app.rest(tenant, token, 'DELETE', path)).status).toBe(200)
    expect(await rowOf(clientId)).toBeNull()
    expect(await isTaken(clientId)).toBe(true)
    const deleted = await app.gql(
      tenant,
      token,
      'mutation($id: ID!) { deleteClient(input: { clientId: $id }) { __typename } }',
      { id: clientId },
    )
    expect(deleted.body.data.deleteClient.__typename).toBe('DeleteClientPayload')
  })

  test("a client of theirs whose id is a URL is theirs: its URL's document changes nothing", async () => {
    const clientId = publish(json({ client_name: 'Taken over' }))
    await dbFor(tenant).client.create({
      data: {
        tenantId: tenant,
        id: clientId,
        name: 'Ours',
        appType: 'web',
        type: 'login',
        callbacks: [REDIRECT_URI],
      },
    })
    await authorize(clientId)
    expect(timesAsked(clientId)).toBe(0)
    expect(await rowOf(clientId)).toMatchObject({ name: 'Ours', registeredBy: 'administrator' })
  })
})
