import { describe, expect } from 'vitest'
import { createClient, getClient } from '../../src/clients/clients.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { sha256 } from '../../src/core/crypto.ts'
import { SYSTEM_TENANT } from '../../src/core/scopes.ts'
import { ctxFor, TENANT_SCOPES } from '../support/actors.ts'
import { MINIMAL_CLIENT, withIssues } from '../support/clients.ts'
import { dbFor } from '../support/database.ts'
import { test } from '../support/fixtures.ts'

describe('createClient', () => {
  test('stores every given field, and records the event in the same transaction', async ({
    tenant,
    ctx,
    events,
  }) => {
    const fields = {
      ...MINIMAL_CLIENT,
      description: 'The shop',
      themeColor: '#0A7c66',
      logoUrl: 'https://shop.example/logo.png',
      callbacks: ['https://shop.example/callback', 'http://localhost:8080/callback'],
      allowedOrigins: ['https://shop.example'],
      webOrigins: ['https://shop.example:8443'],
      allowedLogoutUrls: ['https://shop.example/bye'],
      initiateLoginUrl: 'https://shop.example/login',
      tokenExpiryTime: 60,
      requireConsent: true,
      scopes: ['users:read'],
    }
    const { client } = await createClient(ctx, fields)
    expect(client).toMatchObject({ ...fields, tenantId: tenant, allTenants: false, jwks: null })
    expect(client.id).toMatch(/^client_[0-9a-z]{26}$/)
    expect(await getClient(ctx, client.id)).toEqual(client)
    expect((await events()).at(-1)).toMatchObject({
      type: 'client.created',
      subjectIds: [client.id],
      actorClientId: ctx.actor.kind === 'client' ? ctx.actor.clientId : '',
      requestId: ctx.requestId,
    })
  })

  test('treats null as not given', async ({ ctx }) => {
    const unset = {
      description: null,
      themeColor: null,
      callbacks: null,
      scopes: null,
      tokenExpiryTime: null,
      requireConsent: null,
    }
    const { client } = await createClient(ctx, { ...MINIMAL_CLIENT, ...unset })
    expect(client).toMatchObject({
      description: null,
      themeColor: null,
      callbacks: [],
      scopes: [],
      tokenExpiryTime: null,
      requireConsent: false,
    })
  })

  test('issues a secret of 256 bits, stored as a hash, to web and machine clients only', async ({
    tenant,
    ctx,
  }) => {
    for (const appType of ['web', 'machine', 'single-page', 'native'] as const) {
      const { client, secret } = await createClient(ctx, { ...MINIMAL_CLIENT, appType })
      const stored = await dbFor(tenant).clientSecret.findMany({
        where: { tenantId: tenant, clientId: client.id },
      })
      if (appType === 'single-page' || appType === 'native') {
        expect(secret).toBeNull()
        expect(stored).toEqual([])
        continue
      }
      expect(Buffer.from(secret ?? '', 'base64url')).toHaveLength(32)
      expect(stored.map(({ secretHash }) => Buffer.from(secretHash))).toEqual([sha256(secret ?? '')])
    }
  })

  test('reports every invalid field at once', async ({ ctx }) => {
    const input = {
      name: '',
      appType: 'desktop',
      description: 7,
      themeColor: '#abc',
      logoUrl: 'javascript:alert(1)',
      callbacks: ['/relative', 'https://ok.example/cb'],
      allowedOrigins: ['https://shop.example/path'],
      webOrigins: 'https://shop.example',
      allowedLogoutUrls: ['https://*.shop.example/bye'],
      initiateLoginUrl: 'http://shop.example/login',
      tokenExpiryTime: 59,
      requireConsent: 'yes',
      scopes: ['users:read', 'everything'],
      secret: 'mine',
    }
    await expect(createClient(ctx, input)).rejects.toThrow(
      withIssues([
        { field: 'name', description: 'must not be empty' },
        { field: 'description', description: 'must be a string' },
        { field: 'appType', description: 'must be one of: single-page, web, native, machine' },
        { field: 'themeColor', description: 'must be a color such as #0a7c66' },
        { field: 'logoUrl', description: 'must be an http or https URL' },
        { field: 'callbacks.0', description: 'must be an absolute URL' },
        { field: 'allowedOrigins.0', description: 'must be an origin such as https://example.com' },
        { field: 'webOrigins', description: 'must be an array' },
        { field: 'allowedLogoutUrls.0', description: 'must not contain wildcards' },
        { field: 'initiateLoginUrl', description: 'must be an https URL (http on this machine only)' },
        { field: 'tokenExpiryTime', description: 'must be a whole number from 60 to 86400' },
        { field: 'requireConsent', description: 'must be true or false' },
        { field: 'scopes.1', description: expect.stringContaining('must be one of: users:read') },
        { field: 'type', description: 'must be one of: login, payment' },
        { field: 'secret', description: 'is not a field of this request' },
      ]),
    )
  })

  test.for<[appType: string, url: string, description: string | null]>([
    ['web', 'https://a.example/cb', null],
    ['web', 'http://localhost:3000/cb', null],
    ['web', 'com.example.app:/cb', 'must be an http or https URL'],
    ['web', 'javascript:alert(1)', 'must be an http or https URL'],
    ['web', 'data:text/html,x', 'must be an http or https URL'],
    ['web', 'https://a.example/cb#x', 'must not contain a fragment'],
    ['web', 'https://user@a.example/cb', 'must not contain user information'],
    ['web', 'https://a.example\\@evil.example/', 'must not contain'],
    ['single-page', 'com.example.app:/cb', 'must be an http or https URL'],
    ['native', 'com.example.app:/cb', null],
    ['native', 'http://127.0.0.1/cb', null],
    ['native', 'http://[::1]:4711/cb', null],
    ['native', 'https://app.example/cb', null],
    ['native', 'http://app.example/cb', 'must be an https URL (http on this machine only)'],
    ['native', 'myapp:/cb', 'must use a scheme of reverse domain form'],
    ['native', 'vbscript:x', 'must be an http or https URL'],
    ['machine', 'https://a.example/cb', 'a machine client has no browser'],
  ])('validates the callback of a %s client: %s', async ([appType, url, description], { ctx }) => {
    for (const field of ['callbacks', 'allowedLogoutUrls']) {
      const created = createClient(ctx, { ...MINIMAL_CLIENT, appType, [field]: [url] })
      if (description === null) await expect(created).resolves.toMatchObject({ client: { [field]: [url] } })
      else
        await expect(created).rejects.toThrow(
          withIssues([{ field: `${field}.0`, description: expect.stringContaining(description) }]),
        )
    }
  })

  test('rejects a scope that the caller lacks, and one that belongs to tenant system', async ({ tenant }) => {
    const ctx = await ctxFor(tenant, ['clients:write', 'users:read'])
    await expect(
      createClient(ctx, { ...MINIMAL_CLIENT, scopes: ['users:read', 'users:write', 'events:read'] }),
    ).rejects.toMatchObject({
      code: 'FORBIDDEN',
      message: 'This needs scopes that the caller lacks: users:write, events:read.',
    })
    await expect(
      createClient(createPlatformCtx(tenant), { ...MINIMAL_CLIENT, scopes: ['tenants:write'] }),
    ).rejects.toThrow(withIssues([{ field: 'scopes.0', description: 'belongs to tenant system' }]))
    const { client } = await createClient(createPlatformCtx(SYSTEM_TENANT), {
      ...MINIMAL_CLIENT,
      scopes: ['tenants:write'],
    })
    expect(client.scopes).toEqual(['tenants:write'])
  })

  test('permits allTenants to the platform only, in tenant system only', async ({ tenant }) => {
    const operator = await ctxFor(SYSTEM_TENANT, TENANT_SCOPES)
    const wanted = { ...MINIMAL_CLIENT, allTenants: true }
    await expect(createClient(operator, wanted)).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await expect(createClient(createPlatformCtx(tenant), wanted)).rejects.toMatchObject({ code: 'FORBIDDEN' })
    const { client } = await createClient(createPlatformCtx(SYSTEM_TENANT), wanted)
    expect(client.allTenants).toBe(true)
  })
})
