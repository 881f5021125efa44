import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sha256 } from '../../src/crypto.ts'
import { platformCtx } from '../../src/ctx.ts'
import { dbFor } from '../../src/db.ts'
import { lockUser, unlockUser } from '../../src/users/users.ts'
import { newTenant } from '../support/actors.ts'
import {
  answerIn,
  authorizePath,
  Browser,
  exchange,
  makeClient,
  makeUser,
  type Provider,
  REDIRECT_URI,
  signInAt,
  startProvider,
  tokenRequest,
  userinfoOf,
  VERIFIER,
} from './provider.ts'

let provider: Provider
let tenant: string
let client: Awaited<ReturnType<typeof makeClient>>
let userId: string
let browser: Browser
const INVALID_GRANT = {
  error: 'invalid_grant',
  error_description: 'The code is invalid, expired, or was used before.',
}

beforeAll(async () => {
  provider = await startProvider()
  tenant = await newTenant()
  client = await makeClient(tenant)
  userId = (await makeUser(tenant, 'ada@example.com')).id
  browser = new Browser(provider)
  await signInAt(browser, authorizePath(tenant, client), 'ada@example.com')
})
afterAll(() => provider.close())

async function newCode(more: Record<string, string | null> = {}, by = client): Promise<string> {
  const response = await browser.fetch(authorizePath(tenant, by, { prompt: 'none', ...more }))
  const { code } = answerIn(response.headers.get('location'))
  if (!code) throw new Error(`no code: ${response.headers.get('location')}`)
  return code
}
const grants = () => dbFor(tenant).grant.count({ where: { tenantId: tenant } })
const events = (type: string) => dbFor(tenant).event.count({ where: { tenantId: tenant, type } })

describe('an authorization code', () => {
  test('is redeemed once; a replay revokes what it gave (RFC 6749, section 4.1.2)', async () => {
    const code = await newCode()
    const first = await exchange(provider, tenant, client, code)
    expect(first.status).toBe(200)
    expect(first.headers.get('cache-control')).toBe('no-store')
    expect(first.headers.get('pragma')).toBe('no-cache')
    expect((await userinfoOf(provider, tenant, first.body.access_token as string)).status).toBe(200)
    const second = await exchange(provider, tenant, client, code)
    expect(second).toMatchObject({ status: 400, body: INVALID_GRANT })
    expect((await userinfoOf(provider, tenant, first.body.access_token as string)).status).toBe(401)
    const row = await dbFor(tenant).authorizationCode.findUniqueOrThrow({
      where: { tenantId_codeHash: { tenantId: tenant, codeHash: sha256(code) } },
    })
    const log = await dbFor(tenant).event.findMany({
      where: { tenantId: tenant, subjectIds: { has: row.grantId } },
      orderBy: { seq: 'asc' },
    })
    expect(
      log.map(({ type, userId, actorClientId, subjectIds }) => ({ type, userId, actorClientId, subjectIds })),
    ).toEqual(
      ['grant.created', 'grant.revoked'].map((type) => ({
        type,
        userId,
        actorClientId: client.id,
        subjectIds: [row.grantId, client.id],
      })),
    )
  })

  test('gives one grant to 50 who redeem it at once (security row 22)', async () => {
    const code = await newCode()
    const [grantsBefore, createdBefore] = [await grants(), await events('grant.created')]
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => exchange(provider, tenant, client, code)),
    )
    const good = answers.filter(({ status }) => status === 200)
    expect(good).toHaveLength(1)
    expect(answers.filter(({ status }) => status !== 200).map(({ body }) => body)).toEqual(
      Array(49).fill(INVALID_GRANT),
    )
    expect((await grants()) - grantsBefore).toBe(1)
    expect((await events('grant.created')) - createdBefore).toBe(1)
    // Forty-nine replays: what the first one got is revoked.
    expect((await userinfoOf(provider, tenant, good[0]?.body.access_token as string)).status).toBe(401)
  })

  test.each([
    ['another verifier', { code_verifier: `${VERIFIER}x` }],
    ['another redirect_uri', { redirect_uri: `${REDIRECT_URI}/` }],
    ['a code cut by its last character', { code: 'CUT' }],
    ['an unknown code', { code: 'x'.repeat(43) }],
  ])('is refused with %s, and stays good for its owner', async (_name, wrong) => {
    const code = await newCode()
    const more =
      'code' in wrong && wrong.code === 'CUT'
        ? { code: code.slice(0, -1) }
        : (wrong as Record<string, string>)
    expect(await exchange(provider, tenant, client, code, more)).toMatchObject({
      status: 400,
      body: INVALID_GRANT,
    })
    expect(await exchange(provider, tenant, client, code)).toMatchObject({ status: 200 })
  })

  test('is refused without the verifier, and with one that it was not issued for (security row 9, PKCE downgrade)', async () => {
    const form = { grant_type: 'authorization_code', redirect_uri: REDIRECT_URI }
    const withChallenge = await newCode()
    expect(await tokenRequest(provider, tenant, client, { ...form, code: withChallenge })).toMatchObject({
      status: 400,
      body: INVALID_GRANT,
    })
    const without = await newCode({ code_challenge: null, code_challenge_method: null })
    expect(await exchange(provider, tenant, client, without)).toMatchObject({
      status: 400,
      body: INVALID_GRANT,
    })
    expect(await tokenRequest(provider, tenant, client, { ...form, code: without })).toMatchObject({
      status: 200,
    })
  })

  test('of another client is refused (RFC 6749, section 4.1.3)', async () => {
    const other = await makeClient(tenant)
    const code = await newCode()
    expect(await exchange(provider, tenant, other, code)).toMatchObject({ status: 400, body: INVALID_GRANT })
    expect(await exchange(provider, tenant, client, code)).toMatchObject({ status: 200 })
  })

  test('of another tenant is refused', async () => {
    const elsewhere = await newTenant()
    const theirs = await makeClient(elsewhere)
    expect(await exchange(provider, elsewhere, theirs, await newCode())).toMatchObject({
      status: 400,
      body: INVALID_GRANT,
    })
  })

  test('lives for 60 seconds', async () => {
    const code = await newCode()
    const where = { tenantId_codeHash: { tenantId: tenant, codeHash: sha256(code) } }
    const { expiresAt, createdAt } = await dbFor(tenant).authorizationCode.findUniqueOrThrow({ where })
    expect(expiresAt.getTime() - createdAt.getTime()).toBe(60_000)
    await dbFor(tenant).authorizationCode.update({ where, data: { expiresAt: new Date(Date.now() - 1) } })
    expect(await exchange(provider, tenant, client, code)).toMatchObject({ status: 400, body: INVALID_GRANT })
  })

  test('without redirect_uri or code, or by a public client without verifier, is an invalid_request', async () => {
    const spa = await makeClient(tenant, { appType: 'single-page' })
    const form = { grant_type: 'authorization_code', redirect_uri: REDIRECT_URI }
    const code = await newCode({}, spa)
    for (const [who, more] of [
      [client, { ...form }],
      [client, { grant_type: 'authorization_code', code }],
      [spa, { ...form, code }],
    ] as const)
      expect(await tokenRequest(provider, tenant, { ...who, secret: who.secret }, more)).toMatchObject({
        status: 400,
        body: { error: 'invalid_request' },
      })
    expect(await exchange(provider, tenant, { id: spa.id, secret: '' }, code)).toMatchObject({ status: 200 })
  })

  test('is not redeemed once the user is locked, whoever comes first (security row 29)', async () => {
    const other = await makeUser(tenant, 'bob@example.com')
    for (let round = 0; round < 5; round++) {
      const visitor = new Browser(provider)
      await dbFor(tenant).passcode.deleteMany({ where: { tenantId: tenant, address: 'bob@example.com' } })
      const { location } = await signInAt(visitor, authorizePath(tenant, client), 'bob@example.com')
      const { code = '' } = answerIn(location)
      const [answer] = await Promise.all([
        exchange(provider, tenant, client, code),
        lockUser(platformCtx(tenant), other.id),
      ])
      if (answer.status === 200)
        expect((await userinfoOf(provider, tenant, answer.body.access_token as string)).status).toBe(401)
      const live = await dbFor(tenant).grant.count({
        where: { tenantId: tenant, userId: other.id, revokedAt: null },
      })
      expect(live).toBe(0)
      await unlockUser(platformCtx(tenant), other.id)
    }
  })

  test('is not issued for a locked user', async () => {
    await lockUser(platformCtx(tenant), userId)
    const response = await browser.fetch(authorizePath(tenant, client, { prompt: 'none' }))
    expect(answerIn(response.headers.get('location'))).toEqual({
      error: 'login_required',
      error_description: 'The person must sign in.',
      state: 'a-state',
      iss: `http://localhost:3000/${tenant}`,
    })
  })
})
