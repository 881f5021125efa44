import { describe, expect } from 'vitest'
import { findTenant } from '../../../src/access/tenant-cache.ts'
import { createPlatformCtx } from '../../../src/context/context.ts'
import { sha256 } from '../../../src/core/crypto.ts'
import { startDeviceAuthorization } from '../../../src/oidc/device/device-authorization.ts'
import { test } from '../../support/devices.ts'

describe('the device authorization request (RFC 8628, section 3.1)', () => {
  test('is answered with the members of section 3.2 and is not cacheable', async ({
    tenant,
    requestDevice,
    findRow,
  }) => {
    const { status, headers, body } = await requestDevice()
    expect(status).toBe(200)
    expect(headers.get('cache-control')).toBe('no-store')
    const uri = `http://localhost:3000/${tenant}/device`
    expect(body).toEqual({
      device_code: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
      verification_uri: uri,
      verification_uri_complete: `${uri}?user_code=${body.user_code}`,
      expires_in: 600,
      interval: 5,
    })
    const row = await findRow({ code: body.device_code as string })
    expect((row?.expiresAt.getTime() ?? 0) - (row?.createdAt.getTime() ?? 0)).toBe(600_000)
    // Both codes are stored as hashes; that of the user code is keyed.
    expect(Buffer.from(row?.userCodeHash ?? '')).not.toEqual(sha256(body.user_code as string))
    expect(Buffer.from(row?.userCodeHash ?? '')).not.toEqual(
      sha256((body.user_code as string).replace('-', '')),
    )
    expect(row).toMatchObject({
      status: 'pending',
      userId: null,
      scopes: ['openid', 'profile', 'offline_access'],
    })
  })

  test('is accepted from native and web clients and rejected from machine and single-page clients', async ({
    newClient,
    web,
    requestDevice,
    poll,
  }) => {
    expect((await requestDevice(undefined, web)).status).toBe(200)
    expect(await requestDevice(undefined, { ...web, secret: `${web.secret}x` })).toMatchObject({
      status: 401,
      body: { error: 'invalid_client' },
    })
    for (const more of [
      { appType: 'machine', callbacks: [], scopes: ['users:read'] },
      { appType: 'single-page', callbacks: ['https://spa.example.com/cb'] },
    ]) {
      const client = await newClient(more)
      const rejected = { status: 400, body: { error: 'unauthorized_client' } }
      expect(await requestDevice({ scope: 'openid' }, client)).toMatchObject(rejected)
      expect(await poll({ code: 'x'.repeat(43) }, client)).toMatchObject(rejected)
    }
  })

  test('is limited to the scopes and resources of the client', async ({
    requestDevice,
    newDevice,
    findRow,
  }) => {
    const device = await newDevice({ scope: 'openid account users:write made-up profile' })
    expect((await findRow(device))?.scopes).toEqual(['openid', 'profile'])
    for (const form of [{ scope: 'users:write' }, { scope: 'account' }])
      expect(await requestDevice(form as never)).toMatchObject({
        status: 400,
        body: { error: 'invalid_scope' },
      })
    expect(await requestDevice({ scope: 'openid', resource: 'https://else.example.com' })).toMatchObject({
      status: 400,
      body: { error: 'invalid_target' },
    })
  })

  test('gets a user code that is unique in the tenant', async ({ tenant, tv }) => {
    const cached = await findTenant(tenant)
    if (!cached) throw new Error('no tenant')
    const codes = ['BBBBBBBB', 'BBBBBBBB', 'CCCCCCCC']
    const request = {
      ctx: createPlatformCtx(tenant),
      tenant: cached,
      client: tv as never,
      form: { scope: 'openid' },
      resources: [],
      dpopJkt: null,
    }
    const make = () => startDeviceAuthorization(request, () => codes.shift() ?? '')
    expect((await make()).user_code).toBe('BBBB-BBBB')
    expect((await make()).user_code).toBe('CCCC-CCCC')
  })
})
