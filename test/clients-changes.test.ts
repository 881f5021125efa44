import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { findClient, isClientSecret } from '../src/clients/client-cache.ts'
import { deleteClient, rotateClientSecret, updateClient } from '../src/clients/client-changes.ts'
import { createClient } from '../src/clients/clients.ts'
import { randomToken, sha256 } from '../src/crypto.ts'
import { platformCtx, type Scope, SYSTEM_TENANT } from '../src/ctx.ts'
import { dbFor, sql } from '../src/db.ts'
import { ctxFor, newTenant, TENANT_SCOPES, tokenFor } from './support/actors.ts'
import { logOf } from './support/events.ts'
import { countStatements } from './support/statements.ts'
import { openSurfaces, type Surfaces } from './support/surfaces.ts'

let surfaces: Surfaces
let tenant: string
let token: string

beforeAll(async () => {
  surfaces = await openSurfaces()
  tenant = await newTenant()
  token = await tokenFor(tenant)
})
afterAll(() => surfaces.close())

// biome-ignore lint/suspicious/noExplicitAny: what a test asks for decides the shape
type Any = any
type Options = { tenant?: string; token?: string }
/** What a surface came to: its answer, or the error without the id of the request. */
type Outcome = Record<string, Any>

const FIELDS = `id name description appType themeColor logoUrl callbacks allowedOrigins webOrigins allowedLogoutUrls initiateLoginUrl
  tokenExpiryTime requireConsent type scopes updatedAt createdAt`
const ERROR = '... on UserError { code message }'
const FAULTS = '... on ValidationError { fields { field description } }'
const ENUMS: Record<string, string> = {
  'single-page': 'SINGLE_PAGE',
  web: 'WEB',
  native: 'NATIVE',
  machine: 'MACHINE',
  login: 'LOGIN',
  payment: 'PAYMENT',
}
const NAMES = Object.fromEntries(Object.entries(ENUMS).map(([name, value]) => [value, name]))

const rest = async (method: string, path: string, body?: unknown, options: Options = {}) => {
  const answer = await surfaces.rest(
    options.tenant ?? tenant,
    options.token ?? token,
    method,
    `/clients/${path}`,
    body,
  )
  const { requestId: _, ...told } = answer.body
  return told
}

async function gql(field: string, input: object, selection: string, options: Options = {}): Promise<Outcome> {
  const type = `${field.charAt(0).toUpperCase()}${field.slice(1)}`
  const { body } = await surfaces.gql(
    options.tenant ?? tenant,
    options.token ?? token,
    `mutation ($input: ${type}Input!) { result: ${field}(input: $input) { ${selection} ${ERROR} } }`,
    { input },
  )
  const { client, ...result } = body.data?.result ?? {
    code: body.errors?.[0]?.extensions.code,
    message: body.errors?.[0]?.message,
    fields: body.errors?.[0]?.extensions.fields ?? [],
  }
  return client ? { ...client, appType: NAMES[client.appType], type: NAMES[client.type], ...result } : result
}

const writers = [
  {
    surface: 'REST',
    update: (id: string, fields: object, options?: Options) => rest('PATCH', id, fields, options),
    remove: (id: string, options?: Options) => rest('DELETE', id, undefined, options),
    rotate: (id: string, input: object, options?: Options) => rest('POST', `${id}/secret`, input, options),
  },
  {
    surface: 'GraphQL',
    update: (clientId: string, { appType, ...fields }: Record<string, Any>, options?: Options) =>
      gql(
        'updateClient',
        { clientId, fields: { ...fields, ...(appType && { appType: ENUMS[appType] }) } },
        `... on ClientPayload { client { ${FIELDS} } } ${FAULTS}`,
        options,
      ),
    remove: (clientId: string, options?: Options) =>
      gql('deleteClient', { clientId }, '... on DeleteClientPayload { deletedClientId }', options),
    rotate: (clientId: string, input: object, options?: Options) =>
      gql(
        'rotateClientSecret',
        { clientId, ...input },
        `... on RotateClientSecretPayload { client { ${FIELDS} } secret previousSecretExpiresAt } ${FAULTS}`,
        options,
      ),
  },
]

const FULL = {
  name: 'Shop',
  description: 'The shop',
  appType: 'web',
  themeColor: '#0a7c66',
  logoUrl: 'https://shop.example/logo.png',
  callbacks: ['https://shop.example/callback'],
  allowedOrigins: ['https://shop.example'],
  webOrigins: ['https://shop.example'],
  allowedLogoutUrls: ['https://shop.example/bye'],
  initiateLoginUrl: 'https://shop.example/login',
  tokenExpiryTime: 600,
  requireConsent: true,
  scopes: ['users:read'],
} as const

const made = async (fields: object = {}, of = tenant) => {
  const { client, secret } = await createClient(platformCtx(of), { ...FULL, type: 'login', ...fields })
  return { ...client, secret }
}
const secretsOf = (clientId: string) =>
  sql<{ hash: string; expiresAt: Date | null }>(
    `SELECT encode("secretHash", 'hex') AS "hash", "expiresAt" FROM "ClientSecret"
     WHERE "tenantId" = $1 AND "clientId" = $2 ORDER BY "expiresAt" NULLS FIRST`,
    [tenant, clientId],
  )
const eventsOf = async (clientId: string) =>
  (await logOf(tenant))
    .filter(({ subjectIds, type }) => subjectIds.includes(clientId) && type !== 'client.created')
    .map(({ type, changedFields }) => ({ type, changedFields }))

const faults = (...fields: [string, unknown][]) => ({
  code: 'BAD_USER_INPUT',
  message: 'The request has invalid fields.',
  fields: fields.map(([field, description]) => ({ field, description })),
})
const NOT_FOUND = expect.objectContaining({ code: 'NOT_FOUND', message: 'No such client.' })
const NOBODY = 'client_01m7xeb1sbendby702xerkqv3p'

describe.each(writers)('changing a client over $surface', ({ surface, update }) => {
  it('changes what is given and nothing else, and tells which fields', async () => {
    const client = await made()
    const { name, callbacks, ...rest } = FULL
    const changed = await update(client.id, {
      name: 'Store',
      callbacks: ['https://store.example/callback'],
      description: FULL.description,
    })
    expect(changed).toMatchObject({
      ...rest,
      id: client.id,
      type: 'login',
      name: 'Store',
      callbacks: ['https://store.example/callback'],
      createdAt: client.createdAt.toISOString(),
    })
    expect(changed).not.toHaveProperty('secret')
    expect(Date.parse(changed.updatedAt)).toBeGreaterThan(client.updatedAt.getTime())
    expect(await eventsOf(client.id)).toEqual([
      { type: 'client.updated', changedFields: ['name', 'callbacks'] },
    ])
    expect(await findClient(tenant, client.id)).toMatchObject({ name: 'Store', jwks: null })
  })

  it.each([null, ''])('unsets a field that is given as %j', async (nothing) => {
    const client = await made()
    // GraphQL's own types refuse '' for lists, numbers and flags.
    const other = surface === 'GraphQL' ? null : nothing
    const unset = {
      description: nothing,
      themeColor: nothing,
      logoUrl: nothing,
      initiateLoginUrl: nothing,
      callbacks: other,
      allowedOrigins: other,
      webOrigins: other,
      allowedLogoutUrls: [],
      scopes: other,
      tokenExpiryTime: other,
      requireConsent: other,
    }
    expect(await update(client.id, unset)).toMatchObject({
      name: 'Shop',
      description: null,
      themeColor: null,
      logoUrl: null,
      initiateLoginUrl: null,
      callbacks: [],
      allowedOrigins: [],
      webOrigins: [],
      allowedLogoutUrls: [],
      scopes: [],
      tokenExpiryTime: null,
      requireConsent: false,
    })
  })

  it('changes nothing and tells nothing when all is as it was', async () => {
    const client = await made()
    for (const same of [{}, FULL, { callbacks: [...FULL.callbacks, ...FULL.callbacks] }])
      expect(await update(client.id, same)).toMatchObject({ updatedAt: client.updatedAt.toISOString() })
    expect(await eventsOf(client.id)).toEqual([])
  })

  it('names every faulty field at once, those that break the rules of the app type included', async () => {
    const client = await made()
    const common = {
      name: '',
      themeColor: 'red',
      logoUrl: 'http://shop.example/logo.png',
      callbacks: ['com.example.app:/cb', '/relative'],
      webOrigins: ['https://shop.example/'],
      tokenExpiryTime: 59,
      scopes: ['everything', 'tenants:write'],
    }
    expect(await update(client.id, common)).toEqual(
      faults(
        ['name', 'must not be empty'],
        ['themeColor', 'must be a colour such as #0a7c66'],
        ['logoUrl', 'must be an https URL (http on this machine only)'],
        ['callbacks.1', 'must be an absolute URL'],
        ['webOrigins.0', 'must be an origin such as https://example.com'],
        ['tokenExpiryTime', 'must be a whole number from 60 to 86400'],
        ['scopes.0', expect.stringContaining('must be one of: users:read')],
        ['callbacks.0', 'must be an http or https URL'],
        ['scopes.1', 'belongs to tenant system'],
      ),
    )
    expect(await findClient(tenant, client.id)).toMatchObject(FULL)
    expect(await eventsOf(client.id)).toEqual([])
  })

  it('takes another app type where the client is valid as a whole', async () => {
    const client = await made()
    expect(await update(client.id, { appType: 'machine' })).toEqual(
      faults(
        ['callbacks.0', 'a machine client has no browser to send anywhere'],
        ['allowedLogoutUrls.0', 'a machine client has no browser to send anywhere'],
      ),
    )
    expect(await secretsOf(client.id)).toHaveLength(1)
    const machine = { appType: 'machine', callbacks: [], allowedLogoutUrls: [] }
    expect(await update(client.id, machine)).toMatchObject(machine)
    // Both kinds keep a secret: it stays.
    expect((await secretsOf(client.id)).map(({ hash }) => hash)).toEqual([
      sha256(client.secret ?? '').toString('hex'),
    ])
    expect(await update(client.id, { callbacks: ['https://shop.example/cb'] })).toMatchObject(
      faults(['callbacks.0', 'a machine client has no browser to send anywhere']),
    )
    expect(await update(client.id, { appType: 'native', callbacks: ['com.example.app:/cb'] })).toMatchObject({
      appType: 'native',
      callbacks: ['com.example.app:/cb'],
    })
  })

  it('takes the secrets of one that becomes public, and gives none to one that becomes confidential', async () => {
    const client = await made()
    await rotateClientSecret(platformCtx(tenant), client.id, {})
    await findClient(tenant, client.id)
    await update(client.id, { appType: 'single-page' })
    expect(await secretsOf(client.id)).toEqual([])
    const found = await findClient(tenant, client.id)
    expect(found).toMatchObject({ appType: 'single-page', secretHashes: [] })
    await update(client.id, { appType: 'web' })
    expect(await secretsOf(client.id)).toEqual([])
    expect((await eventsOf(client.id)).slice(1)).toEqual([
      { type: 'client.updated', changedFields: ['appType', 'secret'] },
      { type: 'client.updated', changedFields: ['appType'] },
    ])
    const { secret, previousSecretExpiresAt } = await rotateClientSecret(platformCtx(tenant), client.id, {})
    expect(previousSecretExpiresAt).toBeNull()
    const confidential = await findClient(tenant, client.id)
    expect(confidential && isClientSecret(confidential, secret)).toBe(true)
  })

  it('lets nobody give, keep or use scopes that they lack', async () => {
    const lesser = await tokenFor(tenant, ['clients:write', 'clients:read', 'users:read'])
    const as = { token: lesser }
    const client = await made()
    const forbidden = (scopes: string) =>
      expect.objectContaining({
        code: 'FORBIDDEN',
        message: `This needs scopes that the caller lacks: ${scopes}.`,
      })
    expect(await update(client.id, { scopes: ['users:read', 'users:write', 'events:read'] }, as)).toEqual(
      forbidden('users:write, events:read'),
    )
    const powerful = await made({ scopes: ['users:write'] })
    // Whoever chooses where the codes go has the client's tokens.
    expect(await update(powerful.id, { callbacks: ['https://mine.example/cb'] }, as)).toEqual(
      forbidden('users:write'),
    )
    expect(await update(powerful.id, { scopes: [] }, as)).toEqual(forbidden('users:write'))
    expect(await update(powerful.id, { name: 'Renamed' }, as)).toMatchObject({ name: 'Renamed' })
    expect(await update(client.id, { callbacks: [] }, as)).toMatchObject({ callbacks: [] })
  })

  it('answers the same for a client of another tenant and for one that is not there', async () => {
    const other = await newTenant()
    const client = await made({}, other)
    expect(await update(client.id, { name: 'Mine' })).toEqual(NOT_FOUND)
    expect(await update(NOBODY, { name: '' })).toEqual(NOT_FOUND)
    expect(await findClient(other, client.id)).toMatchObject({ name: 'Shop' })
  })
})

describe('changing a client', () => {
  it('takes back what GET answered, and the secret that was told at the creation', async () => {
    const created = await surfaces.rest(tenant, token, 'POST', '/clients', { ...FULL, type: 'payment' })
    const { id } = created.body
    const read = await surfaces.rest(tenant, token, 'GET', `/clients/${id}`)
    for (const body of [read.body, created.body, { ...read.body, name: 'Other' }]) {
      const { status } = await surfaces.rest(tenant, token, 'PATCH', `/clients/${id}`, body)
      expect(status).toBe(200)
    }
    expect(await eventsOf(id)).toEqual([{ type: 'client.updated', changedFields: ['name'] }])
  })

  it('refuses by name what cannot be changed, and what is no field', async () => {
    const client = await made()
    const body = {
      id: NOBODY,
      name: null,
      appType: '',
      type: 'payment',
      secret: randomToken(),
      updatedAt: '2001-01-01T00:00:00.000Z',
      createdAt: null,
      allTenants: true,
      tenantId: tenant,
      registeredBy: 'registration',
    }
    expect(await rest('PATCH', client.id, body)).toEqual(
      faults(
        ['id', 'is set by the service'],
        ['name', 'must be a string'],
        ['appType', 'must be one of: single-page, web, native, machine'],
        ['type', 'cannot be changed'],
        ['secret', 'is set by the service'],
        ['registeredBy', 'is set by the service'],
        ['updatedAt', 'is set by the service'],
        ['createdAt', 'is set by the service'],
        ['allTenants', 'is not a field of this request'],
        ['tenantId', 'is not a field of this request'],
      ),
    )
    for (const body of [null, [], 'x', 7])
      expect(await rest('PATCH', client.id, body)).toEqual(faults(['', 'must be an object']))
    expect(await rest('PATCH', client.id, { secret: null })).toEqual(
      faults(['secret', 'is set by the service']),
    )
  })

  it('does not judge anew what it leaves alone', async () => {
    const client = await made({
      appType: 'native',
      callbacks: ['com.example.app:/cb'],
      allowedLogoutUrls: [],
    })
    // As ensured clients may be, or such as older rules admitted.
    await dbFor(tenant).client.update({
      where: { tenantId_id: { tenantId: tenant, id: client.id } },
      data: { callbacks: ['http://app.example/cb'] },
    })
    const ctx = await ctxFor(tenant)
    expect(await updateClient(ctx, client.id, { name: 'Renamed' })).toMatchObject({ name: 'Renamed' })
    await expect(
      updateClient(ctx, client.id, { callbacks: ['http://app.example/cb'] }),
    ).rejects.toMatchObject({
      fields: [{ field: 'callbacks.0', description: 'must be an https URL (http on this machine only)' }],
    })
  })

  it.runIf(inject('database').kind === 'postgres')(
    'takes four round trips, three for nothing, and six to delete',
    async () => {
      const client = await made()
      const ctx = await ctxFor(tenant)
      expect(await countStatements(() => updateClient(ctx, client.id, { name: 'Renamed' }))).toBe(4)
      expect(await countStatements(() => updateClient(ctx, client.id, { name: 'Renamed' }))).toBe(3)
      expect(await countStatements(() => rotateClientSecret(ctx, client.id, {}))).toBe(4)
      expect(await countStatements(() => deleteClient(ctx, client.id))).toBe(6)
    },
  )

  it('loses nothing when two change it at once', async () => {
    const client = await made()
    const ctx = await ctxFor(tenant)
    await Promise.all([
      updateClient(ctx, client.id, { name: 'One' }),
      updateClient(ctx, client.id, { description: 'Two' }),
      updateClient(ctx, client.id, { tokenExpiryTime: 900 }),
      rotateClientSecret(ctx, client.id, {}),
    ])
    expect(await findClient(tenant, client.id)).toMatchObject({
      name: 'One',
      description: 'Two',
      tokenExpiryTime: 900,
    })
    expect((await eventsOf(client.id)).map(({ changedFields }) => changedFields.join()).sort()).toEqual([
      'description',
      'name',
      'secret',
      'tokenExpiryTime',
    ])
  })
})

describe.each(writers)('rotating a secret over $surface', ({ surface, rotate }) => {
  it('tells a new one once, and lets the one before live on for a day', async () => {
    const client = await made()
    const before = Date.now()
    const rotated = await rotate(client.id, {})
    expect(rotated).toMatchObject({ ...FULL, id: client.id, type: 'login' })
    expect(Buffer.from(rotated.secret, 'base64url')).toHaveLength(32)
    const end = Date.parse(rotated.previousSecretExpiresAt)
    expect(end - before).toBeGreaterThanOrEqual(86_400_000)
    expect(end - Date.now()).toBeLessThanOrEqual(86_400_000)
    expect(Date.parse(rotated.updatedAt)).toBeGreaterThan(client.updatedAt.getTime())
    expect(await secretsOf(client.id)).toEqual([
      { hash: sha256(rotated.secret).toString('hex'), expiresAt: null },
      { hash: sha256(client.secret ?? '').toString('hex'), expiresAt: new Date(end) },
    ])
    expect(await eventsOf(client.id)).toEqual([{ type: 'client.updated', changedFields: ['secret'] }])
  })

  it('lets two live at most, and none before with an overlap of 0', async () => {
    const client = await made()
    const [first, second] = [client.secret ?? '', (await rotate(client.id, { overlapSeconds: 60 })).secret]
    const third = (await rotate(client.id, { overlapSeconds: 2_592_000 })).secret
    const livesOf = async (...secrets: string[]) => {
      const found = await findClient(tenant, client.id)
      return secrets.map((secret) => found !== null && isClientSecret(found, secret))
    }
    expect(await livesOf(first, second, third)).toEqual([false, true, true])
    const last = await rotate(client.id, { overlapSeconds: 0 })
    expect(last.previousSecretExpiresAt).toBeNull()
    expect(await livesOf(first, second, third, last.secret)).toEqual([false, false, false, true])
    expect(await secretsOf(client.id)).toHaveLength(1)
  })

  it('names what is wrong, and says of a public client that it can keep none', async () => {
    const client = await made()
    for (const overlapSeconds of [-1, 2_592_001])
      expect(await rotate(client.id, { overlapSeconds })).toEqual(
        faults(['overlapSeconds', 'must be a whole number from 0 to 2592000']),
      )
    for (const appType of ['single-page', 'native'])
      expect(await rotate((await made({ appType })).id, {})).toEqual(
        faults(['clientId', `is a ${appType} client, which can keep no secret`]),
      )
    expect(await secretsOf(client.id)).toHaveLength(1)
    if (surface === 'REST')
      expect(await rotate(client.id, { overlapSeconds: '60', secret: 'mine' })).toEqual(
        faults(
          ['overlapSeconds', 'must be a whole number from 0 to 2592000'],
          ['secret', 'is not a field of this request'],
        ),
      )
  })

  it('is for those who have the scopes of the client, in its tenant', async () => {
    const as = { token: await tokenFor(tenant, ['clients:write', 'clients:read']) }
    const client = await made()
    expect(await rotate(client.id, {}, as)).toMatchObject({
      code: 'FORBIDDEN',
      message: 'This needs scopes that the caller lacks: users:read.',
    })
    const foreign = await made({}, await newTenant())
    expect(await rotate(foreign.id, {})).toEqual(NOT_FOUND)
    expect(await rotate(NOBODY, {})).toEqual(NOT_FOUND)
  })
})

describe('rotating a secret', () => {
  it('needs no body', async () => {
    const client = await made()
    const call = (init: RequestInit) =>
      surfaces.request(`/${tenant}/api/v1/clients/${client.id}/secret`, {
        method: 'POST',
        ...init,
        headers: { authorization: `Bearer ${token}`, ...init.headers },
      })
    const answer = await call({})
    expect(answer.status).toBe(200)
    expect(await answer.json()).toMatchObject({ id: client.id, secret: expect.any(String) })
    expect((await call({ body: '{"overlapSeconds":0}' })).status).toBe(415)
    expect((await call({ body: '{', headers: { 'content-type': 'application/json' } })).status).toBe(400)
    expect(await secretsOf(client.id)).toHaveLength(2)
  })

  it('leaves one current and one expiring when ten rotate at once', async () => {
    const client = await made()
    const ctx = await ctxFor(tenant)
    const told = await Promise.all(Array.from({ length: 10 }, () => rotateClientSecret(ctx, client.id, {})))
    const stored = await secretsOf(client.id)
    expect(stored.map(({ expiresAt }) => expiresAt !== null)).toEqual([false, true])
    const hashes = told.map(({ secret }) => sha256(secret).toString('hex'))
    expect(stored.every(({ hash }) => hashes.includes(hash))).toBe(true)
    expect(await eventsOf(client.id)).toHaveLength(10)
  })

  it('leaves no secret when the client becomes public meanwhile', async () => {
    const ctx = await ctxFor(tenant)
    for (let round = 0; round < 5; round++) {
      const client = await made()
      const [rotated] = await Promise.allSettled([
        rotateClientSecret(ctx, client.id, {}),
        updateClient(ctx, client.id, { appType: 'single-page' }),
      ])
      expect(await secretsOf(client.id)).toEqual([])
      if (rotated.status === 'rejected') expect(rotated.reason).toMatchObject({ code: 'BAD_USER_INPUT' })
    }
  })

  it('shows the secret nowhere else', async () => {
    const mine = await newTenant()
    const [caller, client] = [await tokenFor(mine), await made({}, mine)]
    const { body } = await surfaces.rest(mine, caller, 'POST', `/clients/${client.id}/secret`, {})
    await surfaces.rest(mine, caller, 'PATCH', `/clients/${client.id}`, { appType: 'single-page' })
    const hidden = [client.secret, body.secret].flatMap((secret) => [
      secret,
      sha256(secret).toString('hex'),
      sha256(secret).toString('base64url'),
    ])
    const read = JSON.stringify([
      await surfaces.rest(mine, caller, 'GET', `/clients/${client.id}`),
      await surfaces.rest(mine, caller, 'GET', '/clients'),
      await surfaces.gql(mine, caller, `{ clients { nodes { ${FIELDS} } } }`),
      await surfaces.gql(
        mine,
        caller,
        '{ events(first: 100) { nodes { type ... on AuditEvent { detail subjectIds changedFields } } } }',
      ),
      await logOf(mine),
    ])
    for (const text of hidden) expect(read).not.toContain(text)
  })

  it('tells the secret to callers who may only write', async () => {
    const client = await made({ scopes: [] })
    const scopes: Scope[] = ['clients:write']
    const { body } = await surfaces.gql(
      tenant,
      await tokenFor(tenant, scopes),
      `mutation ($id: ID!) {
        rotated: rotateClientSecret(input: { clientId: $id }) { ... on RotateClientSecretPayload { secret client { id } } }
        made: createClient(input: { type: LOGIN, name: "x", appType: WEB }) { ... on CreateClientPayload { secret client { id } } }
      }`,
      { id: client.id },
    )
    expect(body.data).toEqual({
      rotated: { secret: expect.any(String), client: null },
      made: { secret: expect.any(String), client: null },
    })
  })
})

describe.each(writers)('deleting a client over $surface', ({ surface, remove }) => {
  it('deletes it for ever, once', async () => {
    const client = await made()
    expect(await remove(client.id)).toEqual(
      surface === 'REST'
        ? { message: 'The client was deleted.', fields: [] }
        : { deletedClientId: client.id },
    )
    expect(await findClient(tenant, client.id)).toBeNull()
    expect(await secretsOf(client.id)).toEqual([])
    expect(await eventsOf(client.id)).toEqual([{ type: 'client.deleted', changedFields: [] }])
    expect(await remove(client.id)).toEqual(NOT_FOUND)
  })

  it('answers the same for a client of another tenant and for one that is not there', async () => {
    const other = await newTenant()
    const client = await made({}, other)
    expect(await remove(client.id)).toEqual(NOT_FOUND)
    expect(await remove(NOBODY)).toEqual(NOT_FOUND)
    expect(await findClient(other, client.id)).not.toBeNull()
  })
})

describe('deleting a client', () => {
  it('is for those who have its scopes, and takes nothing away from whom it is refused', async () => {
    const client = await made()
    await expect(deleteClient(await ctxFor(tenant, ['clients:write']), client.id)).rejects.toMatchObject({
      code: 'FORBIDDEN',
      message: 'This needs scopes that the caller lacks: users:read.',
    })
    expect(await findClient(tenant, client.id)).toMatchObject({ name: 'Shop', scopes: ['users:read'] })
    expect(await secretsOf(client.id)).toHaveLength(1)
  })

  it('is done by one of ten that try at once', async () => {
    const client = await made()
    const ctx = await ctxFor(tenant)
    const results = await Promise.allSettled(Array.from({ length: 10 }, () => deleteClient(ctx, client.id)))
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const result of results)
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'NOT_FOUND' })
    expect(await eventsOf(client.id)).toHaveLength(1)
  })

  it('answers what is there or not when it is changed and rotated meanwhile', async () => {
    const ctx = await ctxFor(tenant)
    for (let round = 0; round < 5; round++) {
      const client = await made()
      const results = await Promise.allSettled([
        updateClient(ctx, client.id, { name: 'Renamed' }),
        deleteClient(ctx, client.id),
        rotateClientSecret(ctx, client.id, {}),
      ])
      for (const result of results)
        if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'NOT_FOUND' })
      expect(await secretsOf(client.id)).toEqual([])
      expect((await eventsOf(client.id)).at(-1)).toMatchObject({ type: 'client.deleted' })
    }
  })
})

describe("an operator's client", () => {
  it('is changed, rotated and deleted by the platform alone, not even by itself', async () => {
    const operator = await made(
      { appType: 'machine', callbacks: [], allowedLogoutUrls: [], allTenants: true },
      SYSTEM_TENANT,
    )
    const ctx = {
      ...(await ctxFor(SYSTEM_TENANT, [...TENANT_SCOPES, 'tenants:read', 'tenants:write'])),
      actor: { kind: 'client', tenant: SYSTEM_TENANT, clientId: operator.id } as const,
    }
    const refused = {
      code: 'FORBIDDEN',
      message: "An operator's client is changed and deleted on the command line only.",
    }
    await expect(updateClient(ctx, operator.id, { name: 'x' })).rejects.toMatchObject(refused)
    await expect(rotateClientSecret(ctx, operator.id, {})).rejects.toMatchObject(refused)
    await expect(deleteClient(ctx, operator.id)).rejects.toMatchObject(refused)
    const platform = platformCtx(SYSTEM_TENANT)
    const renamed = await updateClient(platform, operator.id, { name: 'Renamed' })
    expect(renamed).toMatchObject({ name: 'Renamed', allTenants: true })
    await rotateClientSecret(platform, operator.id, {})
    expect(await deleteClient(platform, operator.id)).toEqual({ deletedClientId: operator.id })
  })
})
