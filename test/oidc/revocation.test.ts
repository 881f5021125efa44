import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
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
