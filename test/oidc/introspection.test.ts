import { decodeJwt, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { deleteClient, updateClient } from '../../src/clients/client-changes.ts'
import { platformCtx, SYSTEM_TENANT } from '../../src/ctx.ts'
import { dbFor } from '../../src/db.ts'
import { LIMITS } from '../../src/limits.ts'
import { issueAccessToken } from '../../src/oidc/token/access-tokens.ts'
import { setUserRoles } from '../../src/users/roles.ts'
import { newTenant } from '../support/actors.ts'
import { alterationsOf } from '../support/attacks.ts'
import { leastStatements } from '../support/statements.ts'
import {
  answerIn,
  authorizePath,
  Browser,
  basic,
  exchange,
  makeClient,
  makeUser,
  type Provider,
  refreshWith,
  signInAt,
  startProvider,
  tokenRequest,
} from './provider.ts'

type TestClient = Awaited<ReturnType<typeof makeClient>>

let provider: Provider
let tenant: string
let issuer: string
let client: TestClient
/** Serves the API, and has no tokens of its own. */
let server: TestClient
/** Serves another API. */
let stranger: TestClient
let machine: TestClient
let userId: string
let browser: Browser
const API = 'https://orders.example.com'
const OTHER_API = 'https://stock.example.com'
const INACTIVE = { status: 200, body: { active: false } }

beforeAll(async () => {
  provider = await startProvider()
  tenant = await newTenant()
  issuer = `http://localhost:3000/${tenant}`
  client = await makeClient(tenant, { scopes: ['users:read'] })
  server = await makeClient(tenant, { resources: [API] })
  stranger = await makeClient(tenant, { resources: [OTHER_API] })
  machine = await makeClient(tenant, {
    appType: 'machine',
    callbacks: [],
    scopes: ['users:read', 'users:write'],
  })
  userId = (await makeUser(tenant, 'ada@example.com', { name: 'Ada Lovelace' })).id
  browser = new Browser(provider)
  await signInAt(browser, authorizePath(tenant, client), 'ada@example.com')
})
afterAll(() => provider.close())

async function introspect(
  token: string,
  by: { id: string; secret: string } | null,
  more: Record<string, string> = {},
  at = tenant,
) {
  const response = await fetch(`${provider.origin}/${at}/oidc/introspect`, {
    method: 'POST',
    headers: by ? { authorization: basic(by) } : {},
    body: new URLSearchParams({ token, ...more }),
  })
  const body = (await response.json()) as Record<string, unknown>
  return { status: response.status, headers: response.headers, body }
}

/** Tokens of the person who is signed in, for the client. */
async function personTokens(scope = 'openid offline_access', resources = [API], of = client) {
  const path = `${authorizePath(tenant, of, { prompt: 'none', scope })}${resources
    .map((resource) => `&resource=${encodeURIComponent(resource)}`)
    .join('')}`
  const { code } = answerIn((await browser.fetch(path)).headers.get('location'))
  const { body } = await exchange(provider, tenant, of, code as string)
  return { access: body.access_token as string, refresh: body.refresh_token as string }
}
const machineToken = async (form: Record<string, string> = {}) =>
  (await tokenRequest(provider, tenant, machine, { grant_type: 'client_credentials', ...form })).body
    .access_token as string

describe('POST introspect (RFC 7662, section 2)', () => {
  test('tells a client of its own access token', async () => {
    const { access } = await personTokens()
    const { iat, exp, jti, sid, auth_time } = decodeJwt(access)
    const { status, headers, body } = await introspect(access, client)
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(body).toEqual({
      active: true,
      iss: issuer,
      sub: userId,
      client_id: client.id,
      aud: [API, `${issuer}/oidc/userinfo`],
      scope: 'openid offline_access',
      token_type: 'Bearer',
      ...{ iat, exp, jti, sid, auth_time },
    })
  })

  test('tells whoever serves the API what concerns it: of its audience alone, and of no session', async () => {
    const { access } = await personTokens('openid profile email', [API, OTHER_API])
    const { iat, exp, jti, auth_time } = decodeJwt(access)
    const told = {
      active: true,
      iss: issuer,
      sub: userId,
      client_id: client.id,
      scope: 'openid profile email',
      token_type: 'Bearer',
      ...{ iat, exp, jti, auth_time },
    }
    expect((await introspect(access, server)).body).toEqual({ ...told, aud: API })
    expect((await introspect(access, stranger)).body).toEqual({ ...told, aud: OTHER_API })
  })

  test("tells of a machine's token", async () => {
    const token = await machineToken({ resource: API, scope: 'users:read' })
    const { iat, exp, jti } = decodeJwt(token)
    const told = {
      active: true,
      iss: issuer,
      sub: machine.id,
      client_id: machine.id,
      aud: API,
      scope: 'users:read',
      token_type: 'Bearer',
      ...{ iat, exp, jti },
    }
    expect((await introspect(token, machine)).body).toEqual(told)
    expect((await introspect(token, server)).body).toEqual(told)
  })

  test('tells of the key that a token is bound to (RFC 9449, section 6.2)', async () => {
    const bound = await issueAccessToken(tenant, {
      subject: machine.id,
      clientId: machine.id,
      scopes: [],
      audience: [API],
      lifetimeSeconds: 60,
      dpopJkt: 'a-thumbprint',
    })
    expect((await introspect(bound, server)).body).toMatchObject({
      active: true,
      token_type: 'DPoP',
      cnf: { jkt: 'a-thumbprint' },
    })
  })

  test('tells a client of its own refresh token, until that rotates', async () => {
    const { refresh } = await personTokens()
    const { body } = await introspect(refresh, client)
    expect(body).toEqual({
      active: true,
      iss: issuer,
      sub: userId,
      client_id: client.id,
      scope: 'openid offline_access',
      iat: expect.any(Number),
      exp: (body.iat as number) + 30 * 86_400,
      auth_time: expect.any(Number),
      sid: expect.stringMatching(/^session_/),
    })
    const rotated = await refreshWith(provider, tenant, client, refresh)
    expect(await introspect(refresh, client)).toMatchObject(INACTIVE)
    expect((await introspect(rotated.body.refresh_token as string, client)).body.active).toBe(true)
  })

  test.each(['access_token', 'refresh_token', 'unknown'])(
    'takes the token_type_hint %s for a hint (section 2.1)',
    async (token_type_hint) => {
      const { access, refresh } = await personTokens()
      expect((await introspect(access, client, { token_type_hint })).body.active).toBe(true)
      expect((await introspect(refresh, client, { token_type_hint })).body.active).toBe(true)
    },
  )

  test('names the scopes that the token permits now', async () => {
    await setUserRoles(platformCtx(tenant), userId, { roles: ['auditor'] })
    const { access, refresh } = await personTokens('openid offline_access users:read')
    const scopes = async () =>
      Promise.all(([client, server] as const).map(async (by) => (await introspect(access, by)).body.scope))
    expect(await scopes()).toEqual(Array(2).fill('openid offline_access users:read'))
    await setUserRoles(platformCtx(tenant), userId, { roles: [] })
    expect(await scopes()).toEqual(Array(2).fill('openid offline_access'))
    expect((await introspect(refresh, client)).body.scope).toBe('openid offline_access')

    const narrowed = await makeClient(tenant, { appType: 'machine', callbacks: [], scopes: ['users:read'] })
    const { body } = await tokenRequest(provider, tenant, narrowed, { grant_type: 'client_credentials' })
    await updateClient(platformCtx(tenant), narrowed.id, { scopes: [] })
    expect((await introspect(body.access_token as string, narrowed)).body.scope).toBe('')
  })

  test('tells nothing about the person', async () => {
    const { access, refresh } = await personTokens('openid profile email phone offline_access')
    for (const [token, by] of [
      [access, client],
      [access, server],
      [refresh, client],
    ] as const)
      expect(JSON.stringify((await introspect(token, by)).body)).not.toMatch(/ada|lovelace/i)
  })
})

describe('security 36: inactive is what does not concern the caller', () => {
  test("another client's tokens, whether its API is another or none", async () => {
    const { access, refresh } = await personTokens()
    for (const by of [stranger, machine]) expect(await introspect(access, by)).toMatchObject(INACTIVE)
    // Serving an API is no reason to be told of refresh tokens.
    for (const by of [server, stranger, machine])
      expect(await introspect(refresh, by)).toMatchObject(INACTIVE)
    const { access: elsewhere } = await personTokens('openid', [])
    expect(await introspect(elsewhere, server)).toMatchObject(INACTIVE)
  })

  test('one for an API that the caller does not serve any more', async () => {
    const former = await makeClient(tenant, { resources: ['https://former.example'] })
    const token = await machineToken({ resource: 'https://former.example' })
    expect((await introspect(token, former)).body.active).toBe(true)
    await updateClient(platformCtx(tenant), former.id, { resources: [] })
    expect(await introspect(token, former)).toMatchObject(INACTIVE)
  })

  test("another tenant's tokens, at either tenant", async () => {
    const elsewhere = await newTenant()
    const there = await makeClient(elsewhere, { resources: [API] })
    const { access, refresh } = await personTokens()
    for (const token of [access, refresh]) {
      expect(await introspect(token, there, {}, elsewhere)).toMatchObject(INACTIVE)
      // Nor do they know this tenant's clients.
      expect((await introspect(token, client, {}, elsewhere)).status).toBe(401)
      expect((await introspect(token, there)).status).toBe(401)
    }
  })

  test("an operator's token for this tenant", async () => {
    const operator = await makeClient(SYSTEM_TENANT, {
      appType: 'machine',
      callbacks: [],
      scopes: ['users:read'],
    })
    const token = await issueAccessToken(SYSTEM_TENANT, {
      subject: operator.id,
      clientId: operator.id,
      scopes: ['users:read'],
      audience: [API],
      lifetimeSeconds: 60,
    })
    expect(await introspect(token, server)).toMatchObject(INACTIVE)
    expect((await introspect(token, operator, {}, SYSTEM_TENANT)).body.active).toBe(true)
  })

  test('ID tokens, and what was never a token', async () => {
    const path = authorizePath(tenant, client, { prompt: 'none' })
    const { code } = answerIn((await browser.fetch(path)).headers.get('location'))
    const { body } = await exchange(provider, tenant, client, code as string)
    for (const text of [
      body.id_token as string,
      code as string,
      'x',
      '..',
      'e30.e30.e30',
      'ä\n',
      'a'.repeat(50_000),
    ])
      expect(await introspect(text, client)).toMatchObject(INACTIVE)
  })

  test('security 34: JWTs that others signed, or nobody', async () => {
    const { access } = await personTokens()
    const [, payload] = access.split('.')
    const unsigned = `${Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url')}.${payload}.`
    const forged = await new SignJWT(decodeJwt(access))
      .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt' })
      .sign(Buffer.alloc(32))
    for (const token of [unsigned, forged]) expect(await introspect(token, client)).toMatchObject(INACTIVE)
  })

  test('security 26: altered tokens', async () => {
    const { access, refresh } = await personTokens()
    const signatureOf = (jwt: string) => Buffer.from(jwt.split('.')[2] ?? '', 'base64url').toString('hex')
    // Another text for the same signature is the same token.
    const forged = alterationsOf(access).filter(([, altered]) => signatureOf(altered) !== signatureOf(access))
    expect(forged.length).toBeGreaterThan(5)
    for (const [name, altered] of [...forged, ...alterationsOf(refresh)])
      expect([name, (await introspect(altered, client)).body]).toEqual([name, { active: false }])
  })

  test('expired ones', async () => {
    const token = await issueAccessToken(tenant, {
      subject: machine.id,
      clientId: machine.id,
      scopes: [],
      audience: [API],
      lifetimeSeconds: -1,
    })
    expect(await introspect(token, machine)).toMatchObject(INACTIVE)
    const { refresh } = await personTokens()
    const id = { tenantId: tenant, id: refresh.split('.')[0] as string }
    for (const column of ['idleExpiresAt', 'expiresAt'] as const) {
      const before = await dbFor(tenant).grant.findUniqueOrThrow({ where: { tenantId_id: id } })
      await dbFor(tenant).grant.update({ where: { tenantId_id: id }, data: { [column]: new Date() } })
      expect(await introspect(refresh, client)).toMatchObject(INACTIVE)
      await dbFor(tenant).grant.update({ where: { tenantId_id: id }, data: { [column]: before[column] } })
    }
    expect((await introspect(refresh, client)).body.active).toBe(true)
  })

  test("a locked person's, even where the lock has ended nothing yet", async () => {
    const { access, refresh } = await personTokens()
    const id = { tenantId_id: { tenantId: tenant, id: userId } }
    await dbFor(tenant).user.update({ where: id, data: { locked: true } })
    try {
      for (const [token, by] of [
        [access, client],
        [access, server],
        [refresh, client],
      ] as const)
        expect(await introspect(token, by)).toMatchObject(INACTIVE)
    } finally {
      await dbFor(tenant).user.update({ where: id, data: { locked: false } })
    }
  })

  test("a deleted machine's", async () => {
    const gone = await makeClient(tenant, { appType: 'machine', callbacks: [], scopes: [] })
    const { body } = await tokenRequest(provider, tenant, gone, {
      grant_type: 'client_credentials',
      resource: API,
    })
    expect((await introspect(body.access_token as string, server)).body.active).toBe(true)
    await deleteClient(platformCtx(tenant), gone.id)
    expect(await introspect(body.access_token as string, server)).toMatchObject(INACTIVE)
  })
})

describe('who may ask (RFC 7662, section 2.1)', () => {
  test('authenticates as at the token endpoint', async () => {
    const { access } = await personTokens()
    const posted = { client_id: client.id, client_secret: client.secret }
    expect((await introspect(access, null, posted)).body.active).toBe(true)
    const refused = { status: 401, body: { error: 'invalid_client' } }
    expect(await introspect(access, null)).toMatchObject(refused)
    expect(await introspect(access, null, { client_id: client.id })).toMatchObject(refused)
    expect(await introspect(access, { ...client, secret: 'wrong' })).toMatchObject(refused)
  })

  test.each(['single-page', 'native'])('no %s client, not even of its own tokens', async (appType) => {
    const open = await makeClient(tenant, { appType })
    const { access } = await personTokens('openid', [], open)
    const answer = await introspect(access, null, { client_id: open.id })
    expect(answer).toMatchObject({ status: 401, body: { error: 'invalid_client' } })
  })

  test('no page of another origin: there is no preflight, nor GET', async () => {
    for (const method of ['OPTIONS', 'GET']) {
      const response = await fetch(`${provider.origin}/${tenant}/oidc/introspect`, { method })
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
    }
  })

  test('needs a token', async () => {
    for (const token of ['', 'a\u0000'])
      expect(await introspect(token, client)).toMatchObject({
        status: 400,
        body: { error: 'invalid_request' },
      })
  })

  test('discovery says so (RFC 8414, section 2)', async () => {
    const metadata = await (
      await fetch(`${provider.origin}/${tenant}/.well-known/openid-configuration`)
    ).json()
    expect(metadata).toMatchObject({
      introspection_endpoint: `${issuer}/oidc/introspect`,
      introspection_endpoint_auth_methods_supported: expect.not.arrayContaining(['none']),
    })
  })
})

// The embedded database takes the same statements; one of the two is enough to count them on.
describe.runIf(inject('database').kind === 'postgres')('round trips (design, section 9)', () => {
  test('one for a token of a person, none for a machine, nor for what is nothing', async () => {
    const { access, refresh } = await personTokens()
    const token = await machineToken({ resource: API })
    const cost = (text: string, by: TestClient) => leastStatements(() => introspect(text, by))
    expect(await cost(access, client)).toBe(1)
    expect(await cost(access, server)).toBe(1)
    expect(await cost(refresh, client)).toBe(1)
    expect(await cost(token, server)).toBe(0)
    expect(await cost(access, stranger)).toBe(0)
    expect(await cost(`${access.slice(0, -4)}AAAA`, client)).toBe(0)
  })
})

// Last: it uses up this network's share.
test('failing too often is told to wait (security 39)', async () => {
  const { access } = await personTokens()
  const open = await makeClient(tenant, { appType: 'native' })
  const answers = await Promise.all(
    Array.from({ length: LIMITS.clientAuthentication.points + 1 }, () =>
      introspect(access, null, { client_id: open.id }),
    ),
  )
  expect(answers.map(({ status }) => status)).toContain(429)
  expect((await introspect(access, client)).body.active).toBe(true)
})
