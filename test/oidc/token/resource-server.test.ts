import * as openid from 'openid-client'
import { describe, expect } from 'vitest'
import { OTHER_API, test } from '../../support/resource-server.ts'

describe('a resource server that verifies tokens by the published keys (RFC 9068, section 4; RFC 8707)', () => {
  test('accepts a token that a relying party requested for it, and a refreshed one', async ({
    client,
    visitor,
    api,
    callApi,
    signInFor,
  }) => {
    const { config, tokens } = await signInFor([api.url])
    expect(await callApi(tokens.access_token)).toMatchObject({
      status: 200,
      body: { sub: visitor.user.id, client_id: client.id },
    })
    const refreshed = await openid.refreshTokenGrant(config, tokens.refresh_token as string)
    expect((await callApi(refreshed.access_token)).status).toBe(200)
  })

  test('accepts only the token with its audience', async ({ issuer, api, callApi, signInFor }) => {
    const { config, tokens } = await signInFor([OTHER_API, api.url], [OTHER_API])
    expect(await callApi(tokens.access_token)).toMatchObject({
      status: 401,
      body: { reason: expect.stringContaining('"aud"') },
    })
    const refreshed = await openid.refreshTokenGrant(config, tokens.refresh_token as string, {
      resource: api.url,
    })
    expect((await callApi(refreshed.access_token)).body).toMatchObject({
      aud: [api.url, `${issuer}/oidc/userinfo`],
    })
  })

  test('rejects a token without its audience, an ID token and a refresh token', async ({
    callApi,
    signInFor,
  }) => {
    const { tokens } = await signInFor([])
    expect(await callApi(tokens.access_token)).toMatchObject({
      status: 401,
      body: { reason: expect.stringContaining('"aud"') },
    })
    expect((await callApi(tokens.id_token)).status).toBe(401)
    expect((await callApi(tokens.refresh_token)).status).toBe(401)
  })

  test('accepts the token of a machine client, which the management API rejects', async ({
    rest,
    newClient,
    discover,
    api,
    callApi,
  }) => {
    const machine = await newClient({ appType: 'machine', callbacks: [], scopes: ['users:read'] })
    const config = await discover(machine)
    const tokens = await openid.clientCredentialsGrant(config, { resource: api.url, scope: 'users:read' })
    expect(await callApi(tokens.access_token)).toMatchObject({
      status: 200,
      body: { aud: api.url, sub: machine.id, client_id: machine.id, scope: 'users:read' },
    })
    expect((await rest('GET', '/users', undefined, { token: tokens.access_token })).status).toBe(401)
    await expect(
      openid.clientCredentialsGrant(config, { resource: 'https://unknown.example' }),
    ).rejects.toMatchObject({
      error: 'invalid_target',
    })
  })

  test('sees a revocation by introspection at once, and by the published keys not before exp', async ({
    discover,
    visitor,
    api,
    owner,
    callApi,
    signInFor,
  }) => {
    const { config, tokens } = await signInFor([api.url])
    const asOwner = await discover(owner)
    expect(await openid.tokenIntrospection(asOwner, tokens.access_token)).toMatchObject({
      active: true,
      sub: visitor.user.id,
      aud: api.url,
    })
    await openid.tokenRevocation(config, tokens.access_token)
    expect(await openid.tokenIntrospection(asOwner, tokens.access_token)).toEqual({ active: false })
    expect((await callApi(tokens.access_token)).status).toBe(200)
  })
})
