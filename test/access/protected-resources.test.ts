import { decodeJwt } from 'jose'
import { describe, expect } from 'vitest'
import { addResourceMetadata } from '../../src/access/protected-resources.ts'
import { apiAudienceOf, issuerOf } from '../../src/core/issuer.ts'
import { SYSTEM_TENANT } from '../../src/core/scopes.ts'
import { test as base } from '../support/resources.ts'

const APIS = ['api/v1', 'graphql'] as const
type Api = (typeof APIS)[number]

const test = base
  .extend('readMetadata', { scope: 'file' }, ({ app, tenant }) => async (path: Api, of = tenant) => {
    const response = await app.fetch(`/.well-known/oauth-protected-resource/${of}/${path}`)
    return { response, body: await response.json() }
  })
  /** Calls an API; the operation needs the scope users:read. */
  .extend(
    'call',
    { scope: 'file' },
    ({ app, tenant }) =>
      (path: Api, headers: Record<string, string>) =>
        path === 'graphql'
          ? app.fetch(`/${tenant}/graphql`, {
              method: 'POST',
              headers: { 'content-type': 'application/json', ...headers },
              body: JSON.stringify({ query: '{ users { totalSize } }' }),
            })
          : app.fetch(`/${tenant}/api/v1/users?pageSize=1`, { headers }),
  )

describe('the metadata of an API as a protected resource (RFC 9728)', () => {
  test.for(APIS)(
    'names the resource and its authorization server: %s',
    async (path, { tenant, readMetadata }) => {
      const { response, body } = await readMetadata(path)
      expect(response.headers.get('access-control-allow-origin')).toBe('*')
      expect(body).toMatchObject({
        resource: `${issuerOf(tenant)}/${path}`,
        authorization_servers: [issuerOf(tenant)],
        bearer_methods_supported: ['header'],
        dpop_signing_alg_values_supported: expect.arrayContaining(['ES256']),
        dpop_bound_access_tokens_required: false,
        scopes_supported: expect.arrayContaining(['users:read', 'account']),
      })
      expect(body.scopes_supported).not.toContain('tenants:read')
      expect((await readMetadata(path, SYSTEM_TENANT)).body.scopes_supported).toContain('tenants:read')
      expect((await readMetadata(path, 'unknown-tenant')).response.status).toBe(404)
    },
  )

  test.for(APIS)('is named by each challenge of %s (section 5.1)', async (path, { call, readMetadata }) => {
    for (const authorization of ['Bearer nonsense', 'DPoP nonsense', 'Basic dXNlcjpwYXNz', 'nonsense']) {
      const { status, headers } = await call(path, { authorization })
      const [, url = ''] = /resource_metadata="([^"]+)"/.exec(headers.get('www-authenticate') ?? '') ?? []
      expect([status, new URL(url).pathname]).toEqual([
        401,
        new URL((await readMetadata(path)).response.url).pathname,
      ])
    }
  })

  test.for(APIS)(
    'names a resource whose tokens %s accepts',
    async (path, {
      tenant,
      client,
      machine,
      call,
      readMetadata,
      requestAsMachine,
      authorize,
      redeem,
      refresh,
    }) => {
      const { resource } = (await readMetadata(path)).body
      const { body } = await requestAsMachine([resource], [['scope', 'users:read']])
      expect(decodeJwt(body.access_token ?? '').aud).toBe(apiAudienceOf(tenant))
      expect((await call(path, { authorization: `Bearer ${body.access_token}` })).status).toBe(200)
      const { code } = await authorize([resource], 'offline_access users:read')
      const tokens = await redeem(code, [resource])
      expect(tokens.audience).toEqual([apiAudienceOf(tenant)])
      expect((await call(path, { authorization: `Bearer ${tokens.body.access_token}` })).status).toBe(200)
      expect((await refresh(tokens.refresh, [resource])).audience).toEqual([apiAudienceOf(tenant)])
      expect([client.scopes, machine.appType]).toEqual([['users:read'], 'machine'])
    },
  )

  test('of another tenant cannot be requested', async ({ authorize }) => {
    expect(await authorize([`${issuerOf(SYSTEM_TENANT)}/graphql`])).toMatchObject({ error: 'invalid_target' })
  })
})

describe('addResourceMetadata', () => {
  const METADATA = `resource_metadata="${new URL('/.well-known/oauth-protected-resource/shop/graphql', issuerOf('shop')).href}"`

  test.for([
    ['Bearer', `Bearer ${METADATA}`],
    ['Bearer, DPoP algs="ES256"', `Bearer ${METADATA}, DPoP algs="ES256", ${METADATA}`],
    ['Bearer error="invalid_token"', `Bearer error="invalid_token", ${METADATA}`],
    ['DPoP error="x", algs="ES256"', `DPoP error="x", algs="ES256", ${METADATA}`],
    ['Credential', 'Credential'],
    ['Basic realm="Bearer, DPoP"', 'Basic realm="Bearer, DPoP"'],
  ] as const)('adds the parameter to each challenge of a token: %s', ([challenge, expected]) => {
    expect(addResourceMetadata(challenge, 'shop', 'graphql')).toBe(expected)
  })
})
