import { describe, expect } from 'vitest'
import { updateClient } from '../../src/clients/client-changes.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { newTenant } from '../support/actors.ts'
import { newOpenTenant, type Serve, serveJson, test } from '../support/client-documents.ts'
import { exchange, REDIRECT_URI, tokenRequest } from '../support/protocol.ts'

describe('a client metadata document is fetched', () => {
  test('by the authorization and PAR endpoints only, when the tenant allows it', async ({
    app,
    tenant,
    documents,
    isAccepted,
  }) => {
    const clientId = documents.publish(serveJson({}))
    const closed = await newTenant()
    expect(await isAccepted(clientId, closed)).toBe(false)
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
    expect(documents.countRequests(clientId)).toBe(0)
    expect(await isAccepted(clientId)).toBe(true)
    expect(documents.countRequests(clientId)).toBe(1)
  })

  test('without the URLs in the document', async ({ documents, isAccepted }) => {
    const clientId = documents.publish(
      serveJson({
        logo_uri: `${documents.origin}/logo.png`,
        client_uri: `${documents.origin}/home`,
        tos_uri: `${documents.origin}/terms`,
      }),
    )
    expect(await isAccepted(clientId)).toBe(true)
    expect(documents.paths().filter((path) => /logo|home|terms/.test(path))).toEqual([])
  })

  test('without following redirects', async ({ documents, isAccepted, readReason }) => {
    const target = documents.publish(serveJson({}), 'target')
    const clientId = documents.publish((response) => response.writeHead(302, { location: target }).end())
    expect(await isAccepted(clientId)).toBe(false)
    expect(documents.countRequests(target)).toBe(0)
    expect(await readReason()).toContain('redirects elsewhere')
  })

  test('once within a short time when it cannot be used', async ({ documents, isAccepted }) => {
    const clientId = `${documents.origin}/missing.json`
    for (let times = 0; times < 5; times++) expect(await isAccepted(clientId)).toBe(false)
    expect(documents.countRequests(clientId)).toBe(1)
  })

  test('at most 120 times an hour for a network', async ({ documents, authorize }) => {
    const slug = await newOpenTenant()
    const statuses = new Set<number>()
    for (let number = 0; number < 121; number++)
      statuses.add((await authorize(`${documents.origin}/many-${number}`, {}, slug)).status)
    expect([...statuses]).toEqual([400, 429])
  })
})

describe('an invalid client metadata document', () => {
  const long = `"${'x'.repeat(70_000)}"`
  test.for<[name: string, serve: (documents: { origin: string }) => Serve, reason: string]>([
    [
      'of another client_id',
      () => serveJson({ client_id: 'https://other.example/client' }),
      'client_id must be',
    ],
    ['without a client_id', () => serveJson({ client_id: undefined }), 'client_id'],
    ['without redirect_uris', () => serveJson({ redirect_uris: undefined }), 'redirect_uris'],
    [
      'with a javascript redirect URI',
      () => serveJson({ redirect_uris: ['javascript:alert(1)'] }),
      'redirect_uris.0',
    ],
    [
      'with a wildcard redirect URI',
      () => serveJson({ redirect_uris: ['https://*.example.com/cb'] }),
      'redirect_uris.0',
    ],
    ['with a secret', () => serveJson({ client_secret: 'x' }), 'client_secret cannot'],
    [
      'with a secret-based method',
      () => serveJson({ token_endpoint_auth_method: 'client_secret_post' }),
      'token_endpoint_auth_method must',
    ],
    [
      'with a jwks_uri and a jwks',
      ({ origin }) =>
        serveJson({
          token_endpoint_auth_method: 'private_key_jwt',
          jwks_uri: `${origin}/keys`,
          jwks: { keys: [] },
        }),
      'jwks',
    ],
    [
      'that is not JSON',
      () => (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{'),
      'not valid JSON',
    ],
    ['that is HTML', () => serveJson({}, { 'content-type': 'text/html' }), 'Content-Type is text/html'],
    [
      'that is not an object',
      () => (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('[]'),
      'must be an object',
    ],
    [
      'that is too long',
      () => (response) => response.writeHead(200, { 'content-type': 'application/json' }).end(long),
      'more than 65536 bytes',
    ],
    ['that was removed', () => (response) => response.writeHead(410).end(), 'answers 410'],
    ['of a failing host', () => (response) => response.writeHead(500).end(), 'answers 500'],
  ])(
    '%s shows an error page, records the reason and stores no client',
    async ([_title, serve, reason], { events, documents, authorize, findClientRow }) => {
      const clientId = documents.publish(serve(documents))
      const answer = await authorize(clientId)
      expect(answer.status).toBe(400)
      expect(await answer.text()).toContain('metadata document')
      expect(await findClientRow(clientId)).toBeNull()
      const entry = (await events()).at(-1)
      const error = reason.startsWith('token_endpoint_auth_method ')
        ? 'unauthorized_client'
        : 'invalid_request'
      expect(entry).toMatchObject({ type: 'authorize.refused', detail: { client_id: clientId, error } })
      expect(entry?.detail?.reason).toContain(reason)
    },
  )
})

describe('a stored client metadata document', () => {
  test('is read again when it is stale and updates the client', async ({
    events,
    documents,
    isAccepted,
    findClientRow,
    age,
  }) => {
    const clientId = documents.publish(serveJson({ client_name: 'Before' }))
    expect(await isAccepted(clientId)).toBe(true)
    expect(await isAccepted(clientId)).toBe(true)
    expect(documents.countRequests(clientId)).toBe(1)
    documents.republish(
      clientId,
      serveJson({ client_name: 'After', redirect_uris: ['https://rp.example.com/other'] }),
    )
    await age(clientId, 1)
    expect(await isAccepted(clientId)).toBe(false) // its redirect URI has changed
    expect(documents.countRequests(clientId)).toBe(2)
    expect(await findClientRow(clientId)).toMatchObject({
      name: 'After',
      callbacks: ['https://rp.example.com/other'],
      requireConsent: true,
    })
    const changes = (await events()).filter(
      ({ type, subjectIds }) => type === 'client.updated' && subjectIds.includes(clientId),
    )
    expect(changes).toMatchObject([{ changedFields: ['name', 'callbacks'], detail: { by: 'document' } }])
  })

  test('is used for a day while its host does not answer', async ({ documents, isAccepted, age }) => {
    const clientId = documents.publish(serveJson({}))
    expect(await isAccepted(clientId)).toBe(true)
    documents.republish(clientId, (response) => response.socket?.destroy())
    await age(clientId, 3600)
    expect(await isAccepted(clientId)).toBe(true)
    expect(documents.countRequests(clientId)).toBe(2)
    await age(clientId, 86_401)
    expect(await isAccepted(clientId)).toBe(false)
  })

  test.for<[string, Serve]>([
    ['was removed', (response) => response.writeHead(404).end()],
    ['became invalid', serveJson({ redirect_uris: [] })],
  ])(
    'rejects new authorizations when the document %s',
    async ([_title, serve], { documents, isAccepted, findClientRow, age }) => {
      const clientId = documents.publish(serveJson({}))
      expect(await isAccepted(clientId)).toBe(true)
      documents.republish(clientId, serve)
      await age(clientId, 1)
      expect(await isAccepted(clientId)).toBe(false)
      expect(await findClientRow(clientId)).not.toBeNull()
    },
  )

  test('does not reset what an administrator has set', async ({
    tenant,
    documents,
    isAccepted,
    findClientRow,
    age,
    readReason,
  }) => {
    const clientId = documents.publish(serveJson({}))
    expect(await isAccepted(clientId)).toBe(true)
    const settings = {
      logoUrl: 'https://rp.example.com/logo.png',
      allowedOrigins: ['https://admin.example'],
      dpopBoundAccessTokens: true,
      idTokenClaims: true,
    }
    await updateClient(createPlatformCtx(tenant), clientId, settings)
    documents.republish(clientId, serveJson({ client_name: 'New', dpop_bound_access_tokens: false }))
    await age(clientId, 1)
    expect(await isAccepted(clientId)).toBe(true)
    expect(await findClientRow(clientId)).toMatchObject({ ...settings, name: 'New' })
    const fapi = { requireFapiAlgorithms: true, idTokenSigningAlg: 'ES256' }
    await updateClient(createPlatformCtx(tenant), clientId, fapi)
    documents.republish(clientId, serveJson({ id_token_signed_response_alg: 'RS256' }))
    await age(clientId, 1)
    expect(await isAccepted(clientId)).toBe(false)
    expect(await readReason()).toContain('id_token_signed_response_alg must be')
  })

  test('does not lift the method that an administrator demands', async ({
    tenant,
    documents,
    isAccepted,
    findClientRow,
    age,
    readReason,
  }) => {
    const keyed = {
      token_endpoint_auth_method: 'private_key_jwt',
      jwks_uri: 'https://rp.example.com/keys',
    }
    const clientId = documents.publish(serveJson(keyed))
    expect(await isAccepted(clientId)).toBe(true)
    const demanded = { tokenEndpointAuthMethod: 'private_key_jwt' }
    await updateClient(createPlatformCtx(tenant), clientId, demanded)
    documents.republish(clientId, serveJson({ ...keyed, client_name: 'New' }))
    await age(clientId, 1)
    expect(await isAccepted(clientId)).toBe(true)
    expect(await findClientRow(clientId)).toMatchObject({ ...demanded, name: 'New' })
    documents.republish(clientId, serveJson({ token_endpoint_auth_method: 'none' }))
    await age(clientId, 1)
    expect(await isAccepted(clientId)).toBe(false)
    expect(await readReason()).toContain('token_endpoint_auth_method ')
    expect(await findClientRow(clientId)).toMatchObject({ ...demanded, appType: 'web' })
  })

  test('does not change the callbacks of a client with management scopes', async ({
    tenant,
    documents,
    isAccepted,
    findClientRow,
    age,
    readReason,
  }) => {
    const clientId = documents.publish(serveJson({}))
    expect(await isAccepted(clientId)).toBe(true)
    await updateClient(createPlatformCtx(tenant), clientId, { scopes: ['users:write'] })
    documents.republish(clientId, serveJson({ redirect_uris: ['https://evil.example/cb'] }))
    await age(clientId, 1)
    expect(await isAccepted(clientId)).toBe(false)
    expect((await findClientRow(clientId))?.callbacks).toEqual([REDIRECT_URI])
    expect(await readReason()).toContain('administrators alone')
  })
})
