import { decodeJwt } from 'jose'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { deleteClient, updateClient } from '../../src/clients/client-changes.ts'
import { platformCtx } from '../../src/ctx.ts'
import { dbFor } from '../../src/db.ts'
import { newTenant, tokenFor } from '../support/actors.ts'
import { logOf } from '../support/events.ts'
import { countWarmStatements } from '../support/statements.ts'
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
  type TokenAnswer,
  tokenRequest,
  userinfoOf,
} from './provider.ts'

let provider: Provider
let tenant: string
let client: Awaited<ReturnType<typeof makeClient>>
let tokens: TokenAnswer['body']
let count = 0

beforeAll(async () => {
  provider = await startProvider()
  tenant = await newTenant()
  client = await makeClient(tenant)
})
afterAll(() => provider.close())
beforeEach(async () => {
  const email = `person${count++}@example.com`
  await makeUser(tenant, email)
  const browser = new Browser(provider)
  await signInAt(browser, authorizePath(tenant, client), email)
  const scope = 'openid email offline_access session'
  const response = await browser.fetch(authorizePath(tenant, client, { prompt: 'none', scope }))
  const { code } = answerIn(response.headers.get('location'))
  tokens = (await exchange(provider, tenant, client, code as string)).body
})

async function revoke(
  form: Record<string, string>,
  by: { id: string; secret: string } | null = client,
): Promise<{ status: number; body: unknown; headers: Headers }> {
  const response = await fetch(`${provider.origin}/${tenant}/oidc/revoke`, {
    method: 'POST',
    headers: by ? { authorization: basic(by) } : {},
    body: new URLSearchParams(form),
  })
  return { status: response.status, body: await response.json(), headers: response.headers }
}
const DONE = { status: 200, body: {} }
const refresh = async () =>
  (await refreshWith(provider, tenant, client, tokens.refresh_token as string)).status
const userinfo = async () => (await userinfoOf(provider, tenant, tokens.access_token as string)).status

describe('token revocation (RFC 7009)', () => {
  test.each([
    ['refresh_token', 'refresh_token'],
    ['refresh_token', 'access_token'],
    ['access_token', 'access_token'],
    ['access_token', 'nonsense'],
  ])('of a %s, hinted as %s, ends every token of the grant (section 2.1)', async (kind, hint) => {
    expect(await userinfo()).toBe(200)
    expect(await revoke({ token: tokens[kind] as string, token_type_hint: hint })).toMatchObject(DONE)
    expect(await userinfo()).toBe(401)
    expect(await refresh()).toBe(400)
    // Both are written by one statement, in whatever order; the refresh that is refused is told after them.
    const told = (await logOf(tenant))
      .filter(({ type }) => type !== 'token.refused')
      .slice(-2)
      .sort((one, other) => one.type.localeCompare(other.type))
    expect(told).toMatchObject([
      { type: 'grant.revoked', detail: { reason: 'revoked' }, actorClientId: client.id },
      { type: 'session.ended', detail: { reason: 'revoked' }, actorClientId: client.id },
    ])
  })

  test('of what is no token, or was revoked, is no error and does nothing (section 2.2)', async () => {
    const before = (await logOf(tenant)).length
    for (const token of ['nonsense', `${tokens.access_token}x`, 'grant_x.0.a.b'])
      expect(await revoke({ token })).toMatchObject(DONE)
    expect((await logOf(tenant)).length).toBe(before)
    expect(await userinfo()).toBe(200)
    const { refresh_token: token = '' } = tokens
    expect([await revoke({ token }), await revoke({ token })]).toMatchObject([DONE, DONE])
    expect((await logOf(tenant)).length).toBe(before + 2)
  })

  test("of another client's token is refused, and nothing happens (section 2.1)", async () => {
    const other = await makeClient(tenant)
    expect(await revoke({ token: tokens.access_token as string }, other)).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant' },
    })
    expect(await revoke({ token: tokens.refresh_token as string }, other)).toMatchObject(DONE)
    expect([await userinfo(), await refresh()]).toEqual([200, 200])
  })

  test('is for authenticated clients, and asks for a token (sections 2.1 and 2.2.1)', async () => {
    expect(await revoke({ token: tokens.access_token as string }, null)).toMatchObject({
      status: 401,
      body: { error: 'invalid_client' },
    })
    expect(
      await revoke({ token: tokens.access_token as string }, { ...client, secret: 'wrong' }),
    ).toMatchObject({
      status: 401,
    })
    expect(await revoke({})).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
    expect(await userinfo()).toBe(200)
  })

  test("of a machine's access token is not supported: it ends by itself (section 2.2.1)", async () => {
    expect(await revoke({ token: await tokenFor(tenant) })).toMatchObject({
      status: 400,
      body: { error: 'unsupported_token_type' },
    })
  })

  test('is one statement', async () => {
    const { refresh_token: token = '' } = tokens
    expect(
      await countWarmStatements(
        () => revoke({ token: 'nonsense' }),
        () => revoke({ token }),
      ),
    ).toBe(1)
  })
})

describe('a client that becomes one without a secret', () => {
  afterEach(async () => {
    client = await makeClient(tenant)
  })

  test.each(['single-page', 'native'])(
    '%s loses what it got while it had one, which now would work for whoever has a copy',
    async (appType) => {
      const ctx = platformCtx(tenant)
      const grantId = decodeJwt(tokens.access_token as string).gid
      // A change that is refused revokes nothing, nor does one that leaves the secret.
      const refused = updateClient(ctx, client.id, { appType, callbacks: ['x'] })
      await expect(refused).rejects.toMatchObject({ code: 'BAD_USER_INPUT' })
      await updateClient(ctx, client.id, { name: 'Renamed', appType: 'web' })
      expect(await userinfo()).toBe(200)
      await updateClient(ctx, client.id, { appType })
      expect(await userinfo()).toBe(401)
      const answer = await tokenRequest(provider, tenant, null, {
        grant_type: 'refresh_token',
        refresh_token: tokens.refresh_token as string,
        client_id: client.id,
      })
      expect([answer.status, answer.body.error]).toEqual([400, 'invalid_grant'])
      const told = (await logOf(tenant)).filter(({ subjectIds }) => subjectIds.includes(grantId as string))
      expect(told.map(({ type }) => type)).toEqual(['grant.created', 'grant.revoked'])
      const handedOut = await dbFor(tenant).session.findMany({
        where: { tenantId: tenant, grantId: grantId as string },
      })
      expect(handedOut.map(({ endReason }) => endReason)).toEqual(['revoked'])
    },
  )

  test('is changed while it refreshes and is deleted: nobody waits for the other for ever', async () => {
    for (let round = 0; round < 8; round++) {
      const { id } = await makeClient(tenant)
      const { id: userId } = await makeUser(tenant, `racer${round}@example.com`)
      const data = Array.from({ length: 20 }, (_, index) => ({
        tenantId: tenant,
        id: `grant_race_${round}_${index}`,
        clientId: id,
        userId,
        scopes: ['openid'],
        authenticatedAt: new Date(),
        idleExpiresAt: new Date(Date.now() + 60_000),
        expiresAt: new Date(Date.now() + 60_000),
      }))
      await dbFor(tenant).grant.createMany({ data })
      const ctx = platformCtx(tenant)
      const [change, deletion] = await Promise.allSettled([
        updateClient(ctx, id, { appType: 'native' }),
        deleteClient(ctx, id),
      ])
      expect(deletion.status).toBe('fulfilled')
      if (change.status === 'rejected') expect(change.reason).toMatchObject({ code: 'NOT_FOUND' })
      expect(await dbFor(tenant).grant.count({ where: { tenantId: tenant, clientId: id } })).toBe(0)
    }
  })
})
