import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findClient, isClientSecret } from '../src/clients/client-cache.ts'
import { listClients } from '../src/clients/client-list.ts'
import { createClient, getClient } from '../src/clients/clients.ts'
import { ensureClient } from '../src/clients/ensure-client.ts'
import { randomToken, sha256 } from '../src/crypto.ts'
import { platformCtx, SYSTEM_TENANT } from '../src/ctx.ts'
import { dbFor, sql } from '../src/db.ts'
import { closeRuntime, openRuntime } from '../src/runtime.ts'
import { ctxFor, newTenant, TENANT_SCOPES } from './support/actors.ts'
import { logOf } from './support/events.ts'
import { countStatements } from './support/statements.ts'

const faults = (fields: { field: string; description: unknown }[]) => expect.objectContaining({ fields })
const minimal = { name: 'App', appType: 'web', type: 'login' } as const

let tenant: string
beforeAll(async () => {
  await openRuntime()
  tenant = await newTenant()
})
afterAll(closeRuntime)

describe('creating a client', () => {
  it('keeps every field that was given, in one transaction with its event', async () => {
    const ctx = await ctxFor(tenant)
    const fields = {
      ...minimal,
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
    expect((await logOf(tenant)).at(-1)).toMatchObject({
      type: 'client.created',
      subjectIds: [client.id],
      actorClientId: ctx.actor.kind === 'client' ? ctx.actor.clientId : '',
      requestId: ctx.requestId,
    })
  })

  it('takes an empty string and null for a field that is not set', async () => {
    const unset = {
      description: '',
      themeColor: null,
      callbacks: null,
      scopes: '',
      tokenExpiryTime: '',
      requireConsent: '',
    }
    const { client } = await createClient(await ctxFor(tenant), { ...minimal, ...unset })
    expect(client).toMatchObject({
      description: null,
      themeColor: null,
      callbacks: [],
      scopes: [],
      tokenExpiryTime: null,
      requireConsent: false,
    })
  })

  it('gives web and machine clients a secret of 256 bits, stored as a hash, and the others none', async () => {
    const ctx = await ctxFor(tenant)
    for (const appType of ['web', 'machine', 'single-page', 'native'] as const) {
      const { client, secret } = await createClient(ctx, { ...minimal, appType })
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

  it('names every faulty field at once', async () => {
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
    await expect(createClient(await ctxFor(tenant), input)).rejects.toThrow(
      faults([
        { field: 'name', description: 'must not be empty' },
        { field: 'appType', description: 'must be one of: single-page, web, native, machine' },
        { field: 'description', description: 'must be a string' },
        { field: 'themeColor', description: 'must be a colour such as #0a7c66' },
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

  it.each([
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
  ])('of type %s judges the callback %s', async (appType, url, fault) => {
    const ctx = await ctxFor(tenant)
    for (const field of ['callbacks', 'allowedLogoutUrls']) {
      const created = createClient(ctx, { ...minimal, appType, [field]: [url] })
      if (fault === null) await expect(created).resolves.toMatchObject({ client: { [field]: [url] } })
      else
        await expect(created).rejects.toThrow(
          faults([{ field: `${field}.0`, description: expect.stringContaining(fault) }]),
        )
    }
  })

  it('gives no scope that the caller lacks, nor one that belongs to tenant system', async () => {
    const ctx = await ctxFor(tenant, ['clients:write', 'users:read'])
    await expect(
      createClient(ctx, { ...minimal, scopes: ['users:read', 'users:write', 'events:read'] }),
    ).rejects.toMatchObject({
      code: 'FORBIDDEN',
      message: 'This needs scopes that the caller lacks: users:write, events:read.',
    })
    await expect(
      createClient(platformCtx(tenant), { ...minimal, scopes: ['tenants:write'] }),
    ).rejects.toThrow(faults([{ field: 'scopes.0', description: 'belongs to tenant system' }]))
    const { client } = await createClient(platformCtx(SYSTEM_TENANT), {
      ...minimal,
      scopes: ['tenants:write'],
    })
    expect(client.scopes).toEqual(['tenants:write'])
  })

  it('for all tenants is for the platform alone, and in tenant system only', async () => {
    const operator = await ctxFor(SYSTEM_TENANT, TENANT_SCOPES)
    const wanted = { ...minimal, allTenants: true }
    await expect(createClient(operator, wanted)).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await expect(createClient(platformCtx(tenant), wanted)).rejects.toMatchObject({ code: 'FORBIDDEN' })
    const { client } = await createClient(platformCtx(SYSTEM_TENANT), wanted)
    expect(client.allTenants).toBe(true)
  })
})

describe('reading clients', () => {
  it('never shows a secret', async () => {
    const ctx = await ctxFor(tenant)
    const { client, secret } = await createClient(ctx, minimal)
    const hash = sha256(secret ?? '').toString('hex')
    const read = JSON.stringify([
      await getClient(ctx, client.id),
      (await listClients(ctx, {})).rows,
      await logOf(tenant),
    ])
    expect(read).not.toContain(secret)
    expect(read).not.toContain(hash)
    expect(read).not.toMatch(/"secret/i)
  })

  it('answers the same for a client of another tenant and for one that is not there', async () => {
    const other = await newTenant()
    const { client } = await createClient(platformCtx(other), minimal)
    const ctx = await ctxFor(tenant)
    for (const id of [client.id, 'client_00000000000000000000000000', '', '\u0000', 'x\ny', 'ü'])
      await expect(getClient(ctx, id)).rejects.toMatchObject({
        code: 'NOT_FOUND',
        message: 'No such client.',
      })
    expect((await listClients(ctx, {})).rows.map(({ id }) => id)).not.toContain(client.id)
    expect(await findClient(tenant, client.id)).toBeNull()
  })

  it('pages by offset and by cursor, filtered by type and app type', async () => {
    const mine = await newTenant()
    const ctx = platformCtx(mine)
    const ids: string[] = []
    for (let index = 0; index < 7; index++) {
      const type = index % 2 === 0 ? 'login' : 'payment'
      ids.push((await createClient(ctx, { ...minimal, name: `App ${index}`, type })).client.id)
    }
    const first = await listClients(ctx, { first: 3 })
    expect(first.rows.map(({ id }) => id)).toEqual(ids.slice(0, 3))
    const [, , third] = first.rows
    const second = await listClients(ctx, { first: 3, after: third && first.cursorOf(third) })
    expect(second.rows.map(({ id }) => id)).toEqual(ids.slice(3, 6))
    const third_ = await listClients(ctx, { page: 2, pageSize: 3 })
    expect(third_.rows.map(({ id }) => id)).toEqual(ids.slice(6))
    expect(third_).toMatchObject({ page: 2, pageSize: 3, hasNextPage: false, hasPreviousPage: true })
    const back = await listClients(ctx, { last: 2 })
    expect(back.rows.map(({ id }) => id)).toEqual(ids.slice(-2))
    const payment = await listClients(ctx, { filter: { type: 'payment', appType: 'web' } })
    expect(payment.rows.map(({ id }) => id)).toEqual([ids[1], ids[3], ids[5]])
    expect(await payment.countAll()).toBe(3)
    const foreign = first.rows[0] && first.cursorOf(first.rows[0])
    await expect(listClients(ctx, { after: foreign, filter: { type: 'payment' } })).rejects.toThrow(
      faults([{ field: 'after', description: 'is not a cursor of this list' }]),
    )
    await expect(listClients(platformCtx(tenant), { after: foreign })).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
    })
    await expect(listClients(ctx, { filter: { type: 'other', name: 'x' } })).rejects.toMatchObject({
      fields: [{ field: 'type' }, { field: 'name' }],
    })
  })
})

describe('authenticating a client', () => {
  it('reads the client and its secrets in one statement, and none the second time', async () => {
    const { client, secret } = await createClient(platformCtx(tenant), minimal)
    expect(await countStatements(() => findClient(tenant, client.id))).toBe(1)
    expect(await countStatements(() => findClient(tenant, client.id))).toBe(0)
    const found = await findClient(tenant, client.id)
    expect(found).toMatchObject({
      ...client,
      secretHashes: [{ hash: sha256(secret ?? ''), expiresAt: null }],
    })
  })

  it('accepts each secret that has not expired, and nothing near it', async () => {
    const { client, secret } = await createClient(platformCtx(tenant), minimal)
    const [older, oldest] = [randomToken(), randomToken()]
    const add = (text: string, expiresAt: Date) =>
      dbFor(tenant).clientSecret.create({
        data: { tenantId: tenant, clientId: client.id, secretHash: sha256(text), expiresAt },
      })
    await add(older, new Date(Date.now() + 60_000))
    await add(oldest, new Date(Date.now() - 1))
    const found = await findClient(tenant, client.id)
    if (!found || !secret) throw new Error('the client has gone')
    const verdicts = [secret, older, oldest, '', secret.slice(0, -1), `${secret}A`, secret.toUpperCase()]
    expect(verdicts.map((text) => isClientSecret(found, text))).toEqual([
      true,
      true,
      false,
      false,
      false,
      false,
      false,
    ])
    expect(isClientSecret(found, older, new Date(Date.now() + 61_000))).toBe(false)
    const publicApp = await createClient(platformCtx(tenant), { ...minimal, appType: 'native' })
    const foundPublic = await findClient(tenant, publicApp.client.id)
    expect(foundPublic && isClientSecret(foundPublic, '')).toBe(false)
  })
})

describe('ensuring a client at start', () => {
  const id = 'operator'

  it('makes it once when ten processes start at once, and writes nothing afterwards', async () => {
    const wanted = { id, name: 'Operator', appType: 'machine', scopes: ['users:read'], secret: randomToken() }
    await Promise.all(Array.from({ length: 10 }, () => ensureClient(SYSTEM_TENANT, wanted)))
    await ensureClient(SYSTEM_TENANT, wanted)
    const where = { tenantId: SYSTEM_TENANT, clientId: id }
    expect(await dbFor(SYSTEM_TENANT).clientSecret.count({ where })).toBe(1)
    const told = (await logOf(SYSTEM_TENANT)).filter(({ subjectIds }) => subjectIds.includes(id))
    expect(told.map(({ type }) => type)).toEqual(['client.created'])
    const found = await findClient(SYSTEM_TENANT, id)
    expect(found && isClientSecret(found, wanted.secret)).toBe(true)
  })

  it('puts back what differs, and stops the secret before', async () => {
    const before = randomToken()
    const after = randomToken()
    await ensureClient(tenant, {
      id,
      name: 'Demo',
      appType: 'web',
      callbacks: ['http://localhost:1/cb'],
      secret: before,
    })
    await findClient(tenant, id)
    await ensureClient(tenant, {
      id,
      name: 'Demo',
      appType: 'web',
      callbacks: ['http://localhost:2/cb'],
      secret: after,
    })
    const found = await findClient(tenant, id)
    expect(found).toMatchObject({ callbacks: ['http://localhost:2/cb'] })
    expect(found && [before, after].map((secret) => isClientSecret(found, secret))).toEqual([false, true])
    const rows = await sql<{ n: number }>(
      'SELECT count(*)::int AS n FROM "Client" WHERE "tenantId" = $1 AND "id" = $2',
      [tenant, id],
    )
    expect(rows).toEqual([{ n: 1 }])
  })
})
