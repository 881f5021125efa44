import { describe, expect } from 'vitest'
import { createNonce } from '../../src/access/dpop/dpop-nonces.ts'
import { updateClient } from '../../src/clients/client-changes.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { dbFor } from '../support/database.ts'
import { MACHINE, test } from '../support/dpop.ts'
import { makeKey, makeProof } from '../support/proofs.ts'
import { REDIRECT_URI, refreshWith } from '../support/protocol.ts'

describe('a client with dpopBoundAccessTokens (RFC 9449, section 5.2)', () => {
  test('gets no token of any grant without a proof, and a bound one with it', async ({
    newClient,
    newCode,
    redeem,
    ask,
    prover,
    app,
    tenant,
  }) => {
    const web = await newClient({ dpopBoundAccessTokens: true })
    const code = await newCode(web)
    const rejected = { status: 400, body: { error: 'invalid_request' } }
    expect(await redeem(web, code, null)).toMatchObject(rejected)
    const { body } = await redeem(web, code, await prover.prove())
    expect(body.token_type).toBe('DPoP')
    expect(await refreshWith(app, tenant, web, body.refresh_token ?? '')).toMatchObject(rejected)
    const machine = await newClient({ ...MACHINE, dpopBoundAccessTokens: true })
    expect(await ask('', {}, machine)).toMatchObject({ status: 400 })
    expect(await ask(await prover.prove(), {}, machine)).toMatchObject({ status: 200 })
  })

  test('cannot use bearer tokens from before the setting, at userinfo, the APIs and introspection', async ({
    app,
    tenant,
    newClient,
    newCode,
    redeem,
    callUserinfo,
    oidc,
    findDiagnostics,
  }) => {
    const web = await newClient()
    const machine = await newClient(MACHINE)
    const { access_token: token = '' } = (await redeem(web, await newCode(web), null)).body
    const { body } = await oidc.token({ grant_type: 'client_credentials' }, machine)
    const authorization = `Bearer ${body.access_token}`
    const introspect = async () => {
      const form = new URLSearchParams({ token })
      const basic = Buffer.from(`${web.id}:${web.secret}`).toString('base64')
      const headers = { authorization: `Basic ${basic}` }
      return (await app.fetch(`/${tenant}/oidc/introspect`, { method: 'POST', headers, body: form })).json()
    }
    const callUsers = () => app.fetch(`/${tenant}/api/v1/users?pageSize=1`, { headers: { authorization } })
    expect((await callUserinfo({ authorization: `Bearer ${token}` })).status).toBe(200)
    expect((await callUsers()).status).toBe(200)
    expect(await introspect()).toMatchObject({ active: true })
    for (const { id } of [web, machine])
      await updateClient(createPlatformCtx(tenant), id, { dpopBoundAccessTokens: true })
    const answer = await callUserinfo({ authorization: `Bearer ${token}` })
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringContaining('DPoP error="invalid_token"'),
    ])
    expect(await findDiagnostics(answer)).toMatchObject({
      reason: 'an unbound access token of a client that must use DPoP',
    })
    expect((await callUsers()).status).toBe(401)
    expect(await introspect()).toEqual({ active: false })
  })
})

test('a public client with dpopBoundAccessTokens cannot use unbound refresh tokens from before the setting', async ({
  newClient,
  newCode,
  redeem,
  ask,
  prover,
  tenant,
}) => {
  const spa = await newClient({ appType: 'single-page', callbacks: [REDIRECT_URI] })
  const { refresh_token: token = '' } = (await redeem(spa, await newCode(spa), null)).body
  const refresh = async (refreshToken: string) =>
    ask(await prover.prove(), { grant_type: 'refresh_token', refresh_token: refreshToken }, spa)
  const { status, body } = await refresh(token)
  expect([status, body.token_type]).toEqual([200, 'DPoP'])
  await updateClient(createPlatformCtx(tenant), spa.id, {
    dpopBoundAccessTokens: true,
    rotateRefreshTokens: false,
  })
  expect(await refresh(body.refresh_token ?? '')).toMatchObject({
    status: 400,
    body: { error: 'invalid_grant' },
  })
  const bound = (await redeem(spa, await newCode(spa), await prover.prove())).body.refresh_token ?? ''
  expect(await refresh(bound)).toMatchObject({ status: 200, body: { refresh_token: bound } })
})

describe('a client with requireFapiAlgorithms', () => {
  test('cannot use proofs with RS256, at the token endpoint, userinfo and the APIs', async ({
    app,
    tenant,
    prover,
    newClient,
    newCode,
    redeem,
    callUserinfo,
    ask,
  }) => {
    const web = await newClient({ requireFapiAlgorithms: true })
    const machine = await newClient({ ...MACHINE, requireFapiAlgorithms: true })
    const ps256 = await makeKey('PS256')
    const rs256 = {
      ...ps256,
      alg: 'RS256',
      privateKey: await crypto.subtle.importKey(
        'pkcs8',
        await crypto.subtle.exportKey('pkcs8', ps256.privateKey),
        { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
        false,
        ['sign'],
      ),
    }
    expect(await ask(await prover.prove({}, {}, rs256), {}, machine)).toMatchObject({
      status: 400,
      body: { error: 'invalid_dpop_proof' },
    })
    const { access_token: token = '' } = (
      await redeem(web, await newCode(web), await prover.prove({}, {}, ps256))
    ).body
    const machineToken = (await ask(await prover.prove({}, {}, ps256), {}, machine)).body.access_token ?? ''
    const usersUrl = `${prover.issuer}/api/v1/users`
    for (const [key, status] of [
      [ps256, 200],
      [rs256, 401],
    ] as const) {
      const dpop = await prover.proveAt(prover.userinfoUrl, token, {}, key)
      expect((await callUserinfo({ authorization: `DPoP ${token}`, dpop })).status).toBe(status)
      const target = { method: 'GET', url: usersUrl, nonce: createNonce(), token: machineToken }
      const headers = { authorization: `DPoP ${machineToken}`, dpop: await makeProof(key, target) }
      expect((await app.fetch(`/${tenant}/api/v1/users?pageSize=1`, { headers })).status).toBe(status)
    }
  })
})

describe('a client without rotateRefreshTokens', () => {
  test('keeps the current refresh token, also when 20 requests use it concurrently', async ({
    app,
    tenant,
    newClient,
    newCode,
    redeem,
  }) => {
    const web = await newClient({ rotateRefreshTokens: false })
    const { refresh_token: token = '' } = (await redeem(web, await newCode(web), null)).body
    const answers = await Promise.all(Array.from({ length: 20 }, () => refreshWith(app, tenant, web, token)))
    for (const { status, body } of answers) expect([status, body.refresh_token]).toEqual([200, token])
    const id = token.split('.')[0] as string
    const log = await dbFor(tenant).event.findMany({ where: { tenantId: tenant, subjectIds: { has: id } } })
    expect(log.filter(({ type }) => type === 'grant.refreshed')).toHaveLength(1)
  })

  test('loses the grant when a token is used that was rotated before the setting', async ({
    app,
    tenant,
    newClient,
    newCode,
    redeem,
  }) => {
    const web = await newClient()
    const { refresh_token: old = '' } = (await redeem(web, await newCode(web), null)).body
    const current = (await refreshWith(app, tenant, web, old)).body.refresh_token ?? ''
    await updateClient(createPlatformCtx(tenant), web.id, { rotateRefreshTokens: false })
    expect(await refreshWith(app, tenant, web, current)).toMatchObject({ body: { refresh_token: current } })
    expect((await refreshWith(app, tenant, web, old)).status).toBe(400)
    expect((await refreshWith(app, tenant, web, current)).status).toBe(400)
  })
})
