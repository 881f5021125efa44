import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { platformCtx } from '../../src/ctx.ts'
import { dbFor } from '../../src/db.ts'
import { endSession } from '../../src/sessions/sessions.ts'
import { deleteUser, lockUser } from '../../src/users/users.ts'
import { newTenant } from '../support/actors.ts'
import {
  answerIn,
  authorizePath,
  Browser,
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
let browser: Browser
let userId: string
let count = 0
const SCOPE = 'openid email offline_access'
const INVALID_GRANT = {
  status: 400,
  body: {
    error: 'invalid_grant',
    error_description: 'The refresh token is invalid, expired, or was used before.',
  },
}

beforeAll(async () => {
  provider = await startProvider()
  tenant = await newTenant()
  client = await makeClient(tenant)
})
afterAll(() => provider.close())
beforeEach(async () => {
  const email = `person${count++}@example.com`
  userId = (await makeUser(tenant, email)).id
  browser = new Browser(provider)
  await signInAt(browser, authorizePath(tenant, client), email)
})

async function newTokens(scope = SCOPE): Promise<TokenAnswer['body']> {
  const response = await browser.fetch(authorizePath(tenant, client, { prompt: 'none', scope }))
  const { body } = await exchange(
    provider,
    tenant,
    client,
    answerIn(response.headers.get('location')).code as string,
  )
  return body
}
const newToken = async (): Promise<string> => (await newTokens()).refresh_token as string
const grantOf = (token: string) =>
  dbFor(tenant).grant.findUniqueOrThrow({
    where: { tenantId_id: { tenantId: tenant, id: token.split('.')[0] as string } },
  })
const changeGrant = (token: string, data: object) =>
  dbFor(tenant).grant.update({
    where: { tenantId_id: { tenantId: tenant, id: token.split('.')[0] as string } },
    data,
  })
const eventsOf = async (token: string): Promise<string[]> =>
  (
    await dbFor(tenant).event.findMany({
      where: { tenantId: tenant, subjectIds: { has: token.split('.')[0] as string } },
      orderBy: { seq: 'asc' },
    })
  ).map(({ type }) => type)
const refresh = (token: string, more: Record<string, string> = {}) =>
  refreshWith(provider, tenant, client, token, more)

describe('a refresh token (RFC 6749, section 6; RFC 9700, section 4.14.2)', () => {
  test('comes with offline_access only (OIDC Core, section 11)', async () => {
    expect(await newTokens('openid')).not.toHaveProperty('refresh_token')
    expect(await newTokens()).toHaveProperty('refresh_token')
  })

  test('rotates with each use, and its grant tells of it', async () => {
    const token = await newToken()
    const second = await refresh(token)
    expect(second.status).toBe(200)
    expect(second.body).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 3600,
      scope: SCOPE,
      id_token: expect.any(String),
      refresh_token: expect.stringContaining('.1.'),
    })
    const third = await refresh(second.body.refresh_token as string)
    expect(third.body.refresh_token).toContain('.2.')
    expect((await userinfoOf(provider, tenant, third.body.access_token as string)).status).toBe(200)
    expect(await eventsOf(token)).toEqual(['grant.created', 'grant.refreshed', 'grant.refreshed'])
  })

  test('gives the identical successor to a retry within 30 s, and writes nothing for it', async () => {
    const token = await newToken()
    const [first, retry] = [await refresh(token), await refresh(token)]
    expect(retry.status).toBe(200)
    expect(retry.body.refresh_token).toBe(first.body.refresh_token)
    expect(await eventsOf(token)).toEqual(['grant.created', 'grant.refreshed'])
    expect((await grantOf(token)).generation).toBe(1)
  })

  test('gives 50 who use it at once the identical successor, and rotates once (security row 20)', async () => {
    const token = await newToken()
    const answers = await Promise.all(Array.from({ length: 50 }, () => refresh(token)))
    expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200))
    expect(new Set(answers.map(({ body }) => body.refresh_token)).size).toBe(1)
    const { generation, revokedAt } = await grantOf(token)
    expect({ generation, revokedAt }).toEqual({ generation: 1, revokedAt: null })
    expect(await eventsOf(token)).toEqual(['grant.created', 'grant.refreshed'])
  })

  test('used again after 30 s revokes the grant and all its tokens', async () => {
    const token = await newToken()
    const second = await refresh(token)
    await changeGrant(token, { rotatedAt: new Date(Date.now() - 31_000) })
    expect(await refresh(token)).toMatchObject(INVALID_GRANT)
    expect(await refresh(second.body.refresh_token as string)).toMatchObject(INVALID_GRANT)
    expect((await userinfoOf(provider, tenant, second.body.access_token as string)).status).toBe(401)
    expect(await eventsOf(token)).toEqual(['grant.created', 'grant.refreshed', 'grant.revoked'])
  })

  test('two generations old revokes the grant at once', async () => {
    const token = await newToken()
    const second = await refresh(token)
    const third = await refresh(second.body.refresh_token as string)
    expect(await refresh(token)).toMatchObject(INVALID_GRANT)
    expect(await refresh(third.body.refresh_token as string)).toMatchObject(INVALID_GRANT)
  })

  test('ahead of the stored generation is refused, and revokes nothing', async () => {
    const token = await newToken()
    const second = await refresh(token)
    await changeGrant(token, { generation: 0 })
    expect(await refresh(second.body.refresh_token as string)).toMatchObject(INVALID_GRANT)
    expect((await grantOf(token)).revokedAt).toBeNull()
    expect((await refresh(token)).status).toBe(200)
  })

  test('needs its client, authenticated (security row 21)', async () => {
    const token = await newToken()
    const other = await makeClient(tenant)
    const form = { grant_type: 'refresh_token', refresh_token: token }
    expect(await refreshWith(provider, tenant, other, token)).toMatchObject(INVALID_GRANT)
    for (const secret of [{}, { client_secret: 'wrong' }] as Record<string, string>[])
      expect(
        await tokenRequest(provider, tenant, null, { ...form, client_id: client.id, ...secret }),
      ).toMatchObject({ status: 401, body: { error: 'invalid_client' } })
    expect((await refresh(token)).status).toBe(200)
  })

  test('of another tenant is refused', async () => {
    const elsewhere = await newTenant()
    expect(
      await refreshWith(provider, elsewhere, await makeClient(elsewhere), await newToken()),
    ).toMatchObject(INVALID_GRANT)
  })

  test('may ask for less, and keeps what it was granted (RFC 6749, section 6; security row 37)', async () => {
    const token = await newToken()
    const narrow = await refresh(token, { scope: 'openid' })
    expect(narrow).toMatchObject({ status: 200, body: { scope: 'openid' } })
    const wide = await refresh(narrow.body.refresh_token as string)
    expect(wide.body.scope).toBe(SCOPE)
    const growing = await refresh(wide.body.refresh_token as string, { scope: 'openid profile' })
    expect(growing).toMatchObject({ status: 400, body: { error: 'invalid_scope' } })
    expect((await refresh(wide.body.refresh_token as string)).status).toBe(200)
  })

  test('ends 30 days after its last use, and 90 days after the grant', async () => {
    const token = await newToken()
    const day = 86_400_000
    const { createdAt, idleExpiresAt, expiresAt } = await grantOf(token)
    expect([idleExpiresAt, expiresAt].map((end) => (end.getTime() - createdAt.getTime()) / day)).toEqual([
      30, 90,
    ])
    await changeGrant(token, { expiresAt: new Date(Date.now() + day) })
    const second = await refresh(token)
    expect((await grantOf(token)).idleExpiresAt.getTime()).toBeLessThanOrEqual(Date.now() + day)
    await changeGrant(token, { idleExpiresAt: new Date(Date.now() - 1) })
    expect(await refresh(second.body.refresh_token as string)).toMatchObject(INVALID_GRANT)
    await changeGrant(token, {
      idleExpiresAt: new Date(Date.now() + day),
      expiresAt: new Date(Date.now() - 1),
    })
    expect(await refresh(second.body.refresh_token as string)).toMatchObject(INVALID_GRANT)
  })

  test('outlives the session, for that is what offline means', async () => {
    const tokens = await newTokens()
    const { sessionId } = await grantOf(tokens.refresh_token as string)
    await endSession(platformCtx(tenant), sessionId as string, 'logout')
    const refreshed = await refresh(tokens.refresh_token as string)
    expect(refreshed.status).toBe(200)
    expect((await userinfoOf(provider, tenant, refreshed.body.access_token as string)).status).toBe(200)
  })

  test.each([
    ['locked', lockUser],
    ['deleted', deleteUser],
  ])('of a %s user is refused', async (_name, end) => {
    const tokens = await newTokens()
    await end(platformCtx(tenant), userId)
    expect(await refresh(tokens.refresh_token as string)).toMatchObject(INVALID_GRANT)
    expect((await userinfoOf(provider, tenant, tokens.access_token as string)).status).toBe(401)
  })

  test('that races with a lock leaves nothing that works (security row 29)', async () => {
    const token = await newToken()
    const [answer] = await Promise.all([refresh(token), lockUser(platformCtx(tenant), userId)])
    if (answer.status === 200)
      expect((await userinfoOf(provider, tenant, answer.body.access_token as string)).status).toBe(401)
    expect((await grantOf(token)).revokedAt).not.toBeNull()
  })

  test('is stored as a hash only', async () => {
    const token = await newToken()
    const [, , secret = '', mac = ''] = token.split('.')
    const stored = JSON.stringify(await grantOf(token))
    expect(stored).not.toContain(secret)
    expect(stored).not.toContain(mac)
  })
})
