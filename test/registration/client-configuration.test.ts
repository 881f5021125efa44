import { describe, expect } from 'vitest'
import { updateClient } from '../../src/clients/client-changes.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { dbFor } from '../support/database.ts'
import { REDIRECT_URI } from '../support/protocol.ts'
import { test, WEB } from '../support/registration.ts'

describe('the client configuration endpoint (RFC 7592, section 2)', () => {
  test('reads, replaces and deletes the registration', async ({
    tenant,
    callEndpoint,
    register,
    listClients,
  }) => {
    const { body: made } = await register({ ...WEB, logo_uri: 'https://rp.example.com/l.png' })
    const path = `/${made.client_id}`
    const own = made.registration_access_token as string
    const { client_secret, client_secret_expires_at: _, ...shown } = made
    expect(await callEndpoint('GET', path, own)).toMatchObject({ status: 200, body: shown })
    expect((await callEndpoint('GET', path, own)).body).not.toHaveProperty('client_secret')

    const { status, body } = await callEndpoint('PUT', path, own, {
      client_id: made.client_id,
      client_secret,
      client_name: 'Renamed',
      redirect_uris: ['https://rp.example.com/other'],
    })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      client_name: 'Renamed',
      redirect_uris: ['https://rp.example.com/other'],
      registration_access_token: own,
    })
    expect(body).not.toHaveProperty('logo_uri')
    expect((await listClients(tenant)).find(({ id }) => id === made.client_id)).toMatchObject({
      logoUrl: null,
      requireConsent: true,
      callbacks: ['https://rp.example.com/other'],
    })

    expect((await callEndpoint('DELETE', path, own)).status).toBe(204)
    await expect.poll(async () => (await callEndpoint('GET', path, own)).status).toBe(401)
  })

  test('gives a single-page client the origins of its new redirect URIs, also one whose origins were stored', async ({
    tenant,
    callEndpoint,
    register,
    listClients,
  }) => {
    const { body } = await register({ ...WEB, token_endpoint_auth_method: 'none' })
    const stored = { allowedOrigins: [new URL(REDIRECT_URI).origin], hasDefaultOrigins: false }
    await dbFor(tenant).client.updateMany({ where: { tenantId: tenant, id: body.client_id }, data: stored })
    const { client_id, registration_access_token: own } = body
    const { status } = await callEndpoint('PUT', `/${client_id}`, own, {
      client_id,
      redirect_uris: ['https://moved.example/cb'],
      token_endpoint_auth_method: 'none',
    })
    expect(status).toBe(200)
    expect((await listClients(tenant)).find(({ id }) => id === client_id)?.allowedOrigins).toEqual([
      'https://moved.example',
    ])
  })

  test('reports all members that cannot be replaced (section 2.2)', async ({
    tenant,
    callEndpoint,
    register,
    listClients,
  }) => {
    const { body: made } = await register(WEB)
    const answer = await callEndpoint('PUT', `/${made.client_id}`, made.registration_access_token as string, {
      client_id: 'client_other',
      client_secret: 'guessed',
      redirect_uris: ['javascript:x'],
      token_endpoint_auth_method: 'none',
      registration_access_token: 'x',
      registration_client_uri: 'https://x.example',
      client_id_issued_at: 1,
      client_secret_expires_at: 0,
    })
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_client_metadata' } })
    for (const name of [
      'client_id must',
      'client_secret must',
      'redirect_uris.0',
      'token_endpoint_auth_method cannot',
      'registration_access_token is set',
      'registration_client_uri is set',
      'client_id_issued_at is set',
      'client_secret_expires_at is set',
    ])
      expect(answer.body.error_description).toContain(name)
    expect((await listClients(tenant)).find(({ id }) => id === made.client_id)?.callbacks).toEqual([
      REDIRECT_URI,
    ])
  })

  test('answers every other token with the same 401, also for unknown clients', async ({
    tenant,
    rest,
    newRegistrationToken,
    callEndpoint,
    register,
    listClients,
    token: managementToken,
  }) => {
    const [{ body: one }, { body: other }] = [await register(WEB), await register(WEB)]
    const administered = await rest('POST', '/clients', {
      name: 'Ours',
      appType: 'web',
      type: 'login',
    })
    const attempts: [unknown, string | null][] = [
      [one.client_id, other.registration_access_token],
      [one.client_id, await newRegistrationToken()],
      [one.client_id, managementToken],
      [one.client_id, one.client_secret],
      [one.client_id, one.registration_access_token.slice(0, -1)],
      [administered.body.id, one.registration_access_token],
      ['client_01m7xeb1sbendby702xerkqv3p', one.registration_access_token],
      ['unknown', one.registration_access_token],
    ]
    const before = await listClients(tenant)
    const answers = new Set<string>()
    for (const [id, token] of attempts)
      for (const method of ['GET', 'PUT', 'DELETE']) {
        const { status, headers, body } = await callEndpoint(
          method,
          `/${id}`,
          token,
          method === 'PUT' ? { ...WEB, client_id: id } : undefined,
        )
        answers.add(JSON.stringify([status, headers.get('www-authenticate'), body]))
      }
    expect(answers.size).toBe(1)
    expect([...answers][0]).toContain('[401,')
    expect(await listClients(tenant)).toEqual(before)
  })

  test.for<[settings: object, sent: object, answered: object]>([
    [
      { dpopBoundAccessTokens: true },
      { dpop_bound_access_tokens: false },
      { dpop_bound_access_tokens: true },
    ],
    [
      { requirePushedRequests: true, requirePkce: true, requireSecondFactor: true },
      { require_pushed_authorization_requests: false },
      { require_pushed_authorization_requests: true },
    ],
    [{ idTokenClaims: true }, {}, { id_token_claims: true }],
    [{ tokenExpiryTime: 300, rotateRefreshTokens: false }, {}, {}],
    [
      { profile: 'fapi2', idTokenSigningAlg: 'ES256' },
      { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: 'https://rp.example.com/keys' },
      { dpop_bound_access_tokens: true, id_token_signed_response_alg: 'ES256' },
    ],
    [{ allowedOrigins: ['https://admin.example'] }, { token_endpoint_auth_method: 'none' }, {}],
  ])(
    'keeps %o of an administrator when the client replaces its metadata',
    async ([settings, sent, answered], { tenant, register, callEndpoint, listClients }) => {
      const keys = 'jwks_uri' in sent || 'token_endpoint_auth_method' in sent ? sent : {}
      const { body: made } = await register({ ...WEB, ...keys })
      const { client_id: id, registration_access_token: own } = made
      await updateClient(createPlatformCtx(tenant), id, settings)
      for (const more of [keys, { ...keys, ...sent }]) {
        const replaced = await callEndpoint('PUT', `/${id}`, own, { ...WEB, client_id: id, ...more })
        expect(replaced).toMatchObject({ status: 200, body: answered })
        expect((await listClients(tenant)).find((client) => client.id === id)).toMatchObject(settings)
      }
    },
  )

  test('may add a demand, and names what contradicts the settings of an administrator', async ({
    tenant,
    register,
    callEndpoint,
  }) => {
    const { body: made } = await register({ ...WEB, id_token_claims: true })
    const { client_id: id, registration_access_token: own } = made
    const replace = (more: object) => callEndpoint('PUT', `/${id}`, own, { ...WEB, client_id: id, ...more })
    expect((await replace({ dpop_bound_access_tokens: true, id_token_claims: false })).body).toMatchObject({
      dpop_bound_access_tokens: true,
      id_token_claims: false,
    })
    await updateClient(createPlatformCtx(tenant), id, {
      requireFapiAlgorithms: true,
      idTokenSigningAlg: 'ES256',
    })
    expect(await replace({ id_token_signed_response_alg: 'RS256' })).toMatchObject({
      status: 400,
      body: {
        error: 'invalid_client_metadata',
        error_description: expect.stringContaining('id_token_signed_response_alg must be'),
      },
    })
  })

  test('rejects new callbacks once an administrator has granted management scopes', async ({
    tenant,
    callEndpoint,
    register,
    listClients,
  }) => {
    const { body: made } = await register(WEB)
    const id = made.client_id as string
    await updateClient(createPlatformCtx(tenant), id, { scopes: ['users:write'] })
    const moved = { client_id: id, redirect_uris: ['https://evil.example/cb'] }
    const answer = await callEndpoint('PUT', `/${id}`, made.registration_access_token as string, moved)
    expect(answer.status).toBe(403)
    expect((await listClients(tenant)).find((client) => client.id === id)?.callbacks).toEqual([REDIRECT_URI])
  })

  test('is visible to administrators in registeredBy, which they cannot change', async ({
    rest,
    gql,
    register,
  }) => {
    const { body: made } = await register(WEB)
    const id = made.client_id as string
    const read = await rest('GET', `/clients/${id}`)
    expect(read.body.registeredBy).toBe('registration')
    expect(JSON.stringify(read.body)).not.toMatch(/hash|registrationToken/i)
    const { body } = await gql(`{ client(id: "${id}") { registeredBy } }`)
    expect(body.data).toEqual({ client: { registeredBy: 'REGISTRATION' } })
    const patch = (registeredBy: string) => rest('PATCH', `/clients/${id}`, { registeredBy })
    expect((await patch('administrator')).status).toBe(400)
    expect((await patch('registration')).status).toBe(200)
  })
})
