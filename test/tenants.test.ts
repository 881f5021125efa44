import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient } from '../src/clients/clients.ts'
import { platformCtx, SYSTEM_TENANT } from '../src/ctx.ts'
import { dbFor, sql } from '../src/db.ts'
import { publicKeys } from '../src/oidc/keys/keys.ts'
import { closeRuntime, openRuntime } from '../src/runtime.ts'
import { getSettings, updateSettings } from '../src/tenants/settings.ts'
import { findTenant } from '../src/tenants/tenant-cache.ts'
import { createTenant, deleteTenant, ensureTenant, getTenant, listTenants } from '../src/tenants/tenants.ts'
import { ctxFor, newTenant } from './support/actors.ts'
import { logOf } from './support/events.ts'
import { countStatements } from './support/statements.ts'

const system = platformCtx(SYSTEM_TENANT)
const faults = (fields: { field: string; description: string }[]) => expect.objectContaining({ fields })

beforeAll(async () => {
  await openRuntime()
  await ensureTenant(SYSTEM_TENANT)
})
afterAll(closeRuntime)

describe('creating a tenant', () => {
  it('makes the row, a signing key of its own, a sealed token key and an event in both logs', async () => {
    const tenant = await createTenant(system, {
      slug: 'acme',
      settings: { friendlyName: 'Acme', logoUrl: '' },
    })
    expect(tenant).toEqual({
      tenantId: 'acme',
      friendlyName: 'Acme',
      logoUrl: null,
      defaultAudience: null,
      loginUrl: null,
      supportUrl: null,
      dynamicRegistration: false,
      clientIdMetadataDocuments: false,
      createdAt: expect.any(Date),
      updatedAt: expect.any(Date),
    })
    const other = await newTenant('acme-2')
    const [keys, otherKeys] = [await publicKeys('acme'), await publicKeys(other)]
    expect(keys.keys).toHaveLength(1)
    expect(keys.keys[0]).toMatchObject({ kty: 'EC', crv: 'P-256', alg: 'ES256', use: 'sig' })
    expect(keys.keys[0]?.kid).not.toBe(otherKeys.keys[0]?.kid)
    const [found, otherFound] = [await findTenant('acme'), await findTenant(other)]
    expect(found?.tokenKey).toHaveLength(32)
    expect(found?.tokenKey.equals(otherFound?.tokenKey ?? Buffer.alloc(0))).toBe(false)
    const [stored] = await sql<{ tokenKey: string }>(
      'SELECT "tokenKey" FROM "Tenant" WHERE "tenantId" = $1',
      ['acme'],
    )
    expect(stored?.tokenKey).not.toContain(found?.tokenKey.toString('base64url'))
    const told = { type: 'tenant.created', subjectIds: ['acme'] }
    expect(await logOf('acme')).toEqual([expect.objectContaining(told)])
    expect(await logOf(SYSTEM_TENANT)).toContainEqual(expect.objectContaining(told))
  })

  it.each([
    ['', 'must be lower-case'],
    ['Acme', 'must be lower-case'],
    ['acme-', 'must be lower-case'],
    ['a--b', 'must be lower-case'],
    ['a.b', 'must be lower-case'],
    ['a\n', 'must be lower-case'],
    ['ä', 'must be lower-case'],
    ['a'.repeat(64), 'must have 63'],
    ['health', 'is reserved'],
    ['metrics', 'is reserved'],
    ['assets', 'is reserved'],
    ['dev', 'is reserved'],
    [undefined, 'is required'],
    [7, 'must be a string'],
  ])('refuses the slug %j', async (slug, description) => {
    await expect(createTenant(system, { slug })).rejects.toThrow(
      faults([{ field: 'slug', description: expect.stringContaining(description) }]),
    )
  })

  it('names every faulty field at once', async () => {
    const settings = {
      friendlyName: 7,
      logoUrl: 'javascript:alert(1)',
      loginUrl: 'http://example.com',
      tokenKey: 'x',
    }
    await expect(createTenant(system, { slug: 'A', settings })).rejects.toThrow(
      faults([
        { field: 'slug', description: 'must be lower-case letters, digits and single hyphens between them' },
        { field: 'settings.friendlyName', description: 'must be a string' },
        { field: 'settings.logoUrl', description: 'must be an http or https URL' },
        { field: 'settings.loginUrl', description: 'must be an https URL (http on this machine only)' },
        { field: 'settings.tokenKey', description: 'is not a field of this request' },
      ]),
    )
    expect(await findTenant('A')).toBeNull()
  })

  it('happens once when 20 callers race for one slug', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, () => createTenant(system, { slug: 'raced' })),
    )
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const outcome of outcomes)
      if (outcome.status === 'rejected')
        expect(outcome.reason).toMatchObject({
          code: 'CONFLICT',
          fields: [{ field: 'slug', description: 'is taken' }],
        })
    expect(await dbFor('raced').signingKey.count({ where: { tenantId: 'raced' } })).toBe(1)
    expect(await logOf('raced')).toHaveLength(1)
  })

  it('is for operators: callers of tenant system, acting on tenant system', async () => {
    const acme = await newTenant()
    const own = await ctxFor(acme)
    await expect(createTenant(own, { slug: 'mine' })).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await expect(
      createTenant({ ...own, scopes: new Set(['tenants:write']) }, { slug: 'mine' }),
    ).rejects.toMatchObject({
      code: 'FORBIDDEN',
    })
    const operator = await ctxFor(SYSTEM_TENANT, ['tenants:write'])
    await expect(createTenant({ ...operator, tenant: acme }, { slug: 'mine' })).rejects.toMatchObject({
      code: 'FORBIDDEN',
    })
    await expect(createTenant({ ...operator, scopes: new Set() }, { slug: 'mine' })).rejects.toMatchObject({
      code: 'FORBIDDEN',
      message: 'This needs the scope tenants:write.',
    })
    await expect(
      createTenant({ ...operator, tenant: SYSTEM_TENANT, actor: { kind: 'anonymous' } }, { slug: 'mine' }),
    ).rejects.toMatchObject({ code: 'UNAUTHENTICATED' })
    expect(await findTenant('mine')).toBeNull()
    await createTenant(operator, { slug: 'mine' })
    expect(await logOf('mine')).toEqual([
      expect.objectContaining({ actorTenantId: 'system', requestId: operator.requestId }),
    ])
  })
})

describe('settings of a tenant', () => {
  it('change where they are given, are unset by an empty string or null, and are seen at once', async () => {
    const tenant = await newTenant()
    const ctx = await ctxFor(tenant)
    const full = {
      friendlyName: 'Acme',
      logoUrl: 'https://acme.example/logo.png',
      defaultAudience: 'https://api.acme.example',
      loginUrl: 'https://acme.example/login',
      supportUrl: 'https://acme.example/help',
      dynamicRegistration: true,
      clientIdMetadataDocuments: true,
    }
    await findTenant(tenant)
    expect(await updateSettings(ctx, full)).toMatchObject(full)
    expect(await findTenant(tenant)).toMatchObject(full)
    const unset = { logoUrl: null, loginUrl: null, dynamicRegistration: false }
    expect(
      await updateSettings(ctx, { logoUrl: '', loginUrl: null, dynamicRegistration: null }),
    ).toMatchObject({ ...full, ...unset })
    expect(await getSettings(ctx)).toEqual({ ...full, ...unset })
    expect((await logOf(tenant)).slice(-2)).toEqual([
      expect.objectContaining({ type: 'tenant.updated', changedFields: Object.keys(full) }),
      expect.objectContaining({ type: 'tenant.updated', changedFields: Object.keys(unset) }),
    ])
  })

  it('are changed in four round trips, and in none that writes when nothing is given', async () => {
    const ctx = await ctxFor(await newTenant())
    await updateSettings(ctx, { friendlyName: 'warm' })
    expect(await countStatements(() => updateSettings(ctx, { friendlyName: 'Acme' }))).toBeLessThanOrEqual(4)
    const before = (await logOf(ctx.tenant)).length
    expect(await countStatements(() => updateSettings(ctx, {}))).toBe(1)
    expect(await logOf(ctx.tenant)).toHaveLength(before)
  })

  it('of another tenant stay as they are', async () => {
    const [mine, theirs] = [await newTenant(), await newTenant()]
    await updateSettings(await ctxFor(mine), { friendlyName: 'Mine' })
    expect(await getSettings(await ctxFor(theirs))).toMatchObject({ friendlyName: null })
  })
})

describe('deleting a tenant', () => {
  it('leaves no row of it in any table', async () => {
    const [gone, kept] = [await newTenant(), await newTenant()]
    for (const tenant of [gone, kept]) await fillEveryTable(tenant)
    const tables = await tenantTables()
    expect(tables.length).toBeGreaterThanOrEqual(23)
    expect(await tablesWithRows(tables, gone)).toEqual(tables)
    await deleteTenant(system, gone)
    expect(await tablesWithRows(tables, gone)).toEqual([])
    expect(await tablesWithRows(tables, kept)).toEqual(tables)
    expect(await findTenant(gone)).toBeNull()
    expect((await logOf(SYSTEM_TENANT)).at(-1)).toMatchObject({
      type: 'tenant.deleted',
      subjectIds: [gone],
    })
    await expect(getTenant(platformCtx(gone))).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('lets the slug begin anew, with other keys and an empty log', async () => {
    const tenant = await newTenant()
    const first = await findTenant(tenant)
    await deleteTenant(system, tenant)
    // As a request that was under way may leave it.
    await sql('INSERT INTO "Event" ("tenantId", "id", "type") VALUES ($1, $2, $3)', [
      tenant,
      'event_late',
      'signin.failed',
    ])
    await createTenant(system, { slug: tenant })
    const second = await findTenant(tenant)
    expect(second?.tokenKey.equals(first?.tokenKey ?? Buffer.alloc(0))).toBe(false)
    expect((await logOf(tenant)).map(({ type }) => type)).toEqual(['tenant.created'])
  })

  it('refuses system, and says the same of an unknown slug and of what is no slug', async () => {
    await expect(deleteTenant(system, SYSTEM_TENANT)).rejects.toMatchObject({ code: 'FORBIDDEN' })
    for (const slug of ['never-made', 'No Slug', ''])
      await expect(deleteTenant(system, slug)).rejects.toMatchObject({
        code: 'NOT_FOUND',
        message: 'No such tenant.',
      })
    const own = await ctxFor(await newTenant())
    await expect(deleteTenant(own, own.tenant)).rejects.toMatchObject({ code: 'FORBIDDEN' })
  })

  it('happens once when callers race', async () => {
    const tenant = await newTenant()
    const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => deleteTenant(system, tenant)))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })
})

describe('a deployment with 1,000 tenants', () => {
  const slugs = Array.from({ length: 1000 }, (_, index) => `many-${String(index).padStart(4, '0')}`)

  beforeAll(async () => {
    for (let index = 0; index < slugs.length; index += 10)
      await Promise.all(slugs.slice(index, index + 10).map((slug) => ensureTenant(slug)))
  }, 120_000)

  it('sends one statement for a tenant that is not in memory and none for one that is, as with one tenant', async () => {
    // A read that itself takes a second, on a busy machine, is old at once: the next slug is tried then.
    const untried = [...slugs]
    const counts = async () => {
      const slug = untried.pop() ?? ''
      const found = () => findTenant(slug)
      return [
        await countStatements(found),
        await countStatements(() => Promise.all(Array.from({ length: 50 }, found))),
      ]
    }
    await expect.poll(counts, { timeout: 10_000 }).toEqual([1, 0])
  })

  it('finds each of them, with its own key', async () => {
    const found = await Promise.all(slugs.map((slug) => findTenant(slug)))
    expect(found.map((tenant) => tenant?.tenantId)).toEqual(slugs)
    expect(new Set(found.map((tenant) => tenant?.tokenKey.toString('hex'))).size).toBe(1000)
  })

  it('lists them by page and by cursor, in the order of their slugs', async () => {
    const byCursor: string[] = []
    for (let after: string | null = null; ; ) {
      const page = await listTenants(system, { first: 400, after })
      byCursor.push(...page.rows.map(({ tenantId }) => tenantId))
      const last = page.rows.at(-1)
      if (!page.hasNextPage || !last) break
      after = page.cursorOf(last)
    }
    const byOffset = await Promise.all([0, 1, 2].map((page) => listTenants(system, { page, pageSize: 1000 })))
    const offsetSlugs = byOffset.flatMap((page) => page.rows.map(({ tenantId }) => tenantId))
    expect(offsetSlugs).toEqual(byCursor)
    expect(byCursor).toEqual([...byCursor].sort())
    expect(byCursor).toEqual(expect.arrayContaining([...slugs, SYSTEM_TENANT]))
    expect(await byOffset[0]?.countAll()).toBe(byCursor.length)
    const last = await listTenants(system, { last: 2 })
    expect(last.rows.map(({ tenantId }) => tenantId)).toEqual(byCursor.slice(-2))
    for (const row of last.rows) expect(Object.keys(row)).not.toContain('tokenKey')
  })

  it('asks nothing of the database for what cannot be a slug', async () => {
    const names = ['..', 'A', '%61cme', 'a b', 'acme\n', '\u0000', 'health', 'x'.repeat(64), '']
    expect(await countStatements(() => Promise.all(names.map(findTenant)))).toBe(0)
  })
})

async function tenantTables(): Promise<string[]> {
  const rows = await sql<{ name: string }>(
    `SELECT table_name AS "name" FROM information_schema.columns
     WHERE quote_ident(column_name) = '"tenantId"' AND table_schema = current_schema() AND $1 <> '' ORDER BY 1`,
    ['all'],
  )
  return rows.map(({ name }) => name)
}

async function tablesWithRows(tables: string[], tenant: string): Promise<string[]> {
  const counts = await Promise.all(
    tables.map((table) =>
      sql<{ n: number }>(`SELECT count(*)::int AS n FROM "${table}" WHERE "tenantId" = $1`, [tenant]),
    ),
  )
  return tables.filter((_, index) => (counts[index]?.[0]?.n ?? 0) > 0)
}

/** One row of the tenant in each table, so that a table which deletion forgets shows. */
async function fillEveryTable(tenantId: string): Promise<void> {
  const db = dbFor(tenantId)
  const { client } = await createClient(platformCtx(tenantId), { name: 'App', appType: 'web', type: 'login' })
  const [clientId, userId, sessionId, expiresAt, authenticatedAt] = [
    client.id,
    'u',
    's',
    new Date(),
    new Date(),
  ]
  const hash = Buffer.from('hash')
  await db.user.create({ data: { tenantId, id: userId } })
  await db.session.create({
    data: { tenantId, id: sessionId, userId, clientId, kind: 'browser', tokenHash: hash, expiresAt },
  })
  await db.credential.create({ data: { tenantId, id: 'c', userId, externalId: 'c' } })
  await db.enrollmentToken.create({ data: { tenantId, tokenHash: hash, userId, expiresAt } })
  await db.passcode.create({
    data: { tenantId, address: 'a@b.example', channel: 'email', expiresAt, sentAt: expiresAt },
  })
  await db.identityProvider.create({ data: { tenantId, id: 'idp', type: 'oidc', name: 'Provider' } })
  await db.idpUser.create({ data: { tenantId, id: 'l', userId, idpId: 'idp', externalId: 'x' } })
  await db.interaction.create({
    data: { tenantId, handleHash: hash, browserHash: hash, clientId, request: {}, expiresAt },
  })
  await db.authorizationCode.create({
    data: {
      tenantId,
      codeHash: hash,
      grantId: 'g',
      clientId,
      userId,
      sessionId,
      redirectUri: 'https://a.example',
      scopes: [],
      authenticatedAt,
      expiresAt,
    },
  })
  await db.grant.create({
    data: {
      tenantId,
      id: 'g',
      clientId,
      userId,
      scopes: [],
      authenticatedAt,
      idleExpiresAt: expiresAt,
      expiresAt,
    },
  })
  await db.consent.create({ data: { tenantId, userId, clientId, scopes: [] } })
  await db.pushedRequest.create({
    data: { tenantId, requestHash: hash, clientId, parameters: {}, expiresAt },
  })
  await db.deviceCode.create({
    data: { tenantId, codeHash: hash, userCodeHash: hash, clientId, scopes: [], grantId: 'g', expiresAt },
  })
  await db.usedProof.create({ data: { tenantId, proofHash: hash, expiresAt } })
  await db.sessionClient.create({ data: { tenantId, sessionId, clientId } })
  await db.logoutDelivery.create({ data: { tenantId, id: 'd', clientId, userId, sessionId, expiresAt } })
  await db.registrationToken.create({ data: { tenantId, id: 't', tokenHash: hash, expiresAt } })
  await db.idempotencyKey.create({ data: { tenantId, keyHash: hash, requestHash: hash, expiresAt } })
  await db.userTerm.create({ data: { tenantId, userId, term: 'w:ada' } })
  await db.addressChange.create({
    data: {
      tenantId,
      userId,
      channel: 'email',
      address: 'a@b.example',
      shown: 'a@b.example',
      expiresAt,
      sentAt: expiresAt,
    },
  })
}
