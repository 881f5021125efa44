import { exportJWK, generateKeyPair } from 'jose'
import * as openid from 'openid-client'
import { describe, expect } from 'vitest'
import { createClient } from '../../src/clients/clients.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { toAppError } from '../../src/core/to-app-error.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { newOpenTenant, serveJson, test } from '../support/client-documents.ts'
import { dbFor } from '../support/database.ts'
import {
  answerIn,
  authorizePath,
  exchange,
  makeUser,
  REDIRECT_URI,
  signInAt,
  tokenRequest,
} from '../support/protocol.ts'

describe('a client with a metadata document', () => {
  test('signs a user in through openid-client and shows its host on the consent page', async ({
    newPerson,
    newBrowser,
    discover,
    documents,
    findClientRow,
  }) => {
    const clientId = documents.publish(
      serveJson(
        { client_name: 'Your bank', logo_uri: 'https://bank.example/logo.png' },
        { 'cache-control': 'max-age=600' },
      ),
    )
    const user = await newPerson()
    const config = await discover({ id: clientId, secret: '' })
    expect(config.serverMetadata().client_id_metadata_document_supported).toBe(true)
    const checks = { pkceCodeVerifier: openid.randomPKCECodeVerifier(), expectedState: openid.randomState() }
    const url = openid.buildAuthorizationUrl(config, {
      redirect_uri: REDIRECT_URI,
      scope: 'openid email users:read',
      state: checks.expectedState,
      code_challenge: await openid.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
      code_challenge_method: 'S256',
    })
    const browser = newBrowser()
    const consent = await signInAt(browser, url.pathname + url.search, user.email)
    const html = await consent.response.text()
    expect(html).toContain('Your bank')
    expect(html).toContain(new URL(clientId).host)
    expect(html).not.toContain('logo.png')
    const { location } = await browser.submit({ html, path: consent.path }, { step: 'allow' })
    const tokens = await openid.authorizationCodeGrant(config, new URL(location as string), checks)
    expect(tokens.claims()).toMatchObject({ sub: user.id, aud: clientId })
    expect(tokens.scope).toBe('openid email')
    expect(documents.countRequests(clientId)).toBe(1)
    expect(await findClientRow(clientId)).toMatchObject({
      registeredBy: 'document',
      requireConsent: true,
      scopes: [],
      logoUrl: null,
      idTokenSigningAlg: 'RS256',
      appType: 'single-page',
      allowedOrigins: ['https://rp.example.com'],
    })
    const freshFor = ((await findClientRow(clientId))?.documentFreshUntil?.getTime() ?? 0) - Date.now()
    expect(freshFor).toBeGreaterThan(500_000)
    expect(freshFor).toBeLessThanOrEqual(600_000)
  })

  test('pushes a request with private_key_jwt (RFC 9126)', async ({
    app,
    discover,
    documents,
    findClientRow,
  }) => {
    const { publicKey, privateKey } = await generateKeyPair('ES256')
    const clientId = documents.publish(
      serveJson({
        token_endpoint_auth_method: 'private_key_jwt',
        jwks: { keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256' }] },
      }),
    )
    const config = await discover({ id: clientId, secret: '' }, openid.PrivateKeyJwt(privateKey))
    const url = await openid.buildAuthorizationUrlWithPAR(config, {
      redirect_uri: REDIRECT_URI,
      scope: 'openid',
      code_challenge: await openid.calculatePKCECodeChallenge(openid.randomPKCECodeVerifier()),
      code_challenge_method: 'S256',
    })
    expect((await app.fetch(url.pathname + url.search)).status).toBe(303)
    expect(await findClientRow(clientId)).toMatchObject({ appType: 'web', registeredBy: 'document' })
  })

  test('is read and created once by 20 concurrent first requests', async ({
    events,
    documents,
    isAccepted,
  }) => {
    const slug = await newOpenTenant()
    const clientId = documents.publish((response, url) => setTimeout(() => serveJson({})(response, url), 50))
    const taken = await Promise.all(Array.from({ length: 20 }, () => isAccepted(clientId, slug)))
    expect(taken).toEqual(Array(20).fill(true))
    expect(documents.countRequests(clientId)).toBe(1)
    const made = await events({ tenant: slug, type: 'client.created' })
    expect(made).toMatchObject([{ subjectIds: [clientId], detail: { by: 'document' } }])
  })

  test('is created once by concurrent processes; the others get CONFLICT', async ({ events }) => {
    const slug = await newOpenTenant()
    const id = 'https://app.example.com/raced'
    const make = () =>
      createClient(
        createPlatformCtx(slug),
        { name: 'Raced', appType: 'native', type: 'login' },
        { by: 'document', columns: { id }, hasSecret: false },
      )
    const results = await Promise.allSettled(Array.from({ length: 8 }, make))
    const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
    expect(failures.map((failure) => toAppError(failure).code)).toEqual(Array(7).fill('CONFLICT'))
    expect(await events({ tenant: slug, type: 'client.created' })).toHaveLength(1)
  })

  test('that is native receives responses on any loopback port (RFC 8252, section 7.3)', async ({
    documents,
    authorize,
    findClientRow,
  }) => {
    const clientId = documents.publish(
      serveJson({ redirect_uris: ['http://127.0.0.1/cb', 'com.example.app:/cb'] }),
    )
    const answer = await authorize(clientId, { redirect_uri: 'http://127.0.0.1:51234/cb' })
    expect(answer.status).toBe(303)
    expect((await findClientRow(clientId))?.appType).toBe('native')
  })
})

describe('clientIdMetadataDocuments', () => {
  test('disables such clients and their tokens when it is turned off', async ({
    app,
    newBrowser,
    documents,
    isAccepted,
  }) => {
    const slug = await newOpenTenant()
    const clientId = documents.publish(serveJson({}))
    const client = { id: clientId, secret: '' }
    const email = `eve@${slug}.example`
    await makeUser(slug, email)
    const browser = newBrowser()
    const path = authorizePath(slug, client, { scope: 'openid offline_access', prompt: 'consent' })
    const consent = await signInAt(browser, path, email)
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
    await updateSettings(createPlatformCtx(slug), { clientIdMetadataDocuments: false })
    expect((await refresh()).status).toBe(401)
    expect(await isAccepted(clientId, slug)).toBe(false)
    const metadata = await (await app.fetch(`/${slug}/.well-known/openid-configuration`)).json()
    expect(metadata).not.toHaveProperty('client_id_metadata_document_supported')
  })
})

describe('an administrator', () => {
  test('reads and deletes a client with a URL as id over GraphQL, and over REST by its base64url', async ({
    rest,
    gql,
    documents,
    isAccepted,
    findClientRow,
  }) => {
    const clientId = documents.publish(serveJson({ client_name: 'Named by a URL' }))
    expect(await isAccepted(clientId)).toBe(true)
    const { body } = await gql(
      'query($id: ID!) { client(id: $id) { id registeredBy } node(id: $id) { __typename id } }',
      { id: clientId },
    )
    expect(body.data).toEqual({
      client: { id: clientId, registeredBy: 'DOCUMENT' },
      node: { __typename: 'Client', id: clientId },
    })
    const path = `/clients/url_${Buffer.from(clientId).toString('base64url')}`
    expect((await rest('GET', path)).body).toMatchObject({
      id: clientId,
      registeredBy: 'document',
    })
    expect((await rest('GET', '/clients?pageSize=1000')).status).toBe(200)
    expect((await rest('GET', `${path}x`)).status).toBe(404)
    expect((await rest('GET', `/clients/${encodeURIComponent(clientId)}`)).status).toBe(404)
    expect((await rest('DELETE', path)).status).toBe(200)
    expect(await findClientRow(clientId)).toBeNull()
    expect(await isAccepted(clientId)).toBe(true)
    const deleted = await gql(
      'mutation($id: ID!) { deleteClient(input: { clientId: $id }) { __typename } }',
      { id: clientId },
    )
    expect(deleted.body.data.deleteClient.__typename).toBe('DeleteClientPayload')
  })

  test('registers a client whose id is a URL; its document is not fetched', async ({
    tenant,
    documents,
    authorize,
    findClientRow,
  }) => {
    const clientId = documents.publish(serveJson({ client_name: 'Taken over' }))
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
    expect(documents.countRequests(clientId)).toBe(0)
    expect(await findClientRow(clientId)).toMatchObject({ name: 'Ours', registeredBy: 'administrator' })
  })
})
