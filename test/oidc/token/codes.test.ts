import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../../src/context/context.ts'
import { lockUser, unlockUser } from '../../../src/users/users.ts'
import { newTenant } from '../../support/actors.ts'
import { alterCode, readCodeContents } from '../../support/codes.ts'
import { dbFor } from '../../support/database.ts'
import { answerIn, exchange, makeClient, REDIRECT_URI, VERIFIER } from '../../support/protocol.ts'
import { test as base } from '../../support/signed-in.ts'

const INVALID_GRANT = {
  status: 400,
  body: { error: 'invalid_grant', error_description: 'The code is invalid, expired, or was used before.' },
}

/** With a browser that is signed in at `client`, and codes for it. */
const test = base.extend(
  'newCode',
  { scope: 'file' },
  ({ signedIn, oidc, client }) =>
    async (more: Record<string, string | null> = {}, by = client): Promise<string> => {
      const response = await signedIn.fetch(oidc.authorizePath({ prompt: 'none', ...more }, by))
      const { code } = answerIn(response.headers.get('location'))
      if (!code) throw new Error(`no code: ${response.headers.get('location')}`)
      return code
    },
)

describe('an authorization code', () => {
  test('is redeemed once; a replay revokes the grant (RFC 6749, section 4.1.2)', async ({
    tenant,
    client,
    oidc,
    user,
    newCode,
  }) => {
    const code = await newCode()
    const first = await oidc.exchange(code)
    expect(first.status).toBe(200)
    expect(first.headers.get('cache-control')).toBe('no-store')
    expect(first.headers.get('pragma')).toBe('no-cache')
    expect((await oidc.userinfo(first.body.access_token as string)).status).toBe(200)
    const second = await oidc.exchange(code)
    expect(second).toMatchObject(INVALID_GRANT)
    expect((await oidc.userinfo(first.body.access_token as string)).status).toBe(401)
    const { grantId } = await readCodeContents(tenant, code)
    const log = await dbFor(tenant).event.findMany({
      where: { tenantId: tenant, subjectIds: { has: grantId } },
      orderBy: { seq: 'asc' },
    })
    expect(
      log.map(({ type, userId, actorClientId, subjectIds }) => ({ type, userId, actorClientId, subjectIds })),
    ).toEqual(
      ['grant.created', 'grant.revoked'].map((type) => ({
        type,
        userId: user.id,
        actorClientId: client.id,
        subjectIds: [grantId, client.id],
      })),
    )
  })

  test('issues one grant to 50 concurrent redemptions', async ({ tenant, oidc, newCode }) => {
    const code = await newCode()
    const grants = () => dbFor(tenant).grant.count({ where: { tenantId: tenant } })
    const created = () => dbFor(tenant).event.count({ where: { tenantId: tenant, type: 'grant.created' } })
    const [grantsBefore, createdBefore] = [await grants(), await created()]
    const answers = await Promise.all(Array.from({ length: 50 }, () => oidc.exchange(code)))
    const good = answers.filter(({ status }) => status === 200)
    expect(good).toHaveLength(1)
    expect(answers.filter(({ status }) => status !== 200).map(({ body }) => body)).toEqual(
      Array(49).fill(INVALID_GRANT.body),
    )
    expect((await grants()) - grantsBefore).toBe(1)
    expect((await created()) - createdBefore).toBe(1)
    // Forty-nine replays: what the first one got is revoked.
    expect((await oidc.userinfo(good[0]?.body.access_token as string)).status).toBe(401)
  })

  test.for<[name: string, wrong: Record<string, string>]>([
    ['another verifier', { code_verifier: `${VERIFIER}x` }],
    ['another redirect_uri', { redirect_uri: `${REDIRECT_URI}/` }],
    ['a code cut by its last character', { code: 'CUT' }],
    ['a code of a grant only', { code: 'grant_01h455vb4pex5vsknk084sn02q.' }],
    ['an unknown code', { code: 'x'.repeat(43) }],
  ])('is rejected with %s and stays valid for its client', async ([_name, wrong], { oidc, newCode }) => {
    const code = await newCode()
    const more = 'code' in wrong && wrong.code === 'CUT' ? { code: code.slice(0, -1) } : wrong
    expect(await oidc.exchange(code, more)).toMatchObject(INVALID_GRANT)
    expect(await oidc.exchange(code)).toMatchObject({ status: 200 })
  })

  test('is rejected without its code_verifier, and with one when the request had no code_challenge (PKCE downgrade)', async ({
    oidc,
    newCode,
  }) => {
    const form = { grant_type: 'authorization_code', redirect_uri: REDIRECT_URI }
    const withChallenge = await newCode()
    expect(await oidc.token({ ...form, code: withChallenge })).toMatchObject(INVALID_GRANT)
    const without = await newCode({ code_challenge: null, code_challenge_method: null })
    expect(await oidc.exchange(without)).toMatchObject(INVALID_GRANT)
    expect(await oidc.token({ ...form, code: without })).toMatchObject({
      status: 200,
    })
  })

  test('is rejected when another client redeems it (RFC 6749, section 4.1.3)', async ({
    newClient,
    oidc,
    newCode,
  }) => {
    const other = await newClient()
    const code = await newCode()
    expect(await oidc.exchange(code, {}, other)).toMatchObject(INVALID_GRANT)
    expect(await oidc.exchange(code)).toMatchObject({ status: 200 })
  })

  test('is rejected at the token endpoint of another tenant', async ({ app, newCode }) => {
    const elsewhere = await newTenant()
    const theirs = await makeClient(elsewhere)
    expect(await exchange(app, elsewhere, theirs, await newCode())).toMatchObject(INVALID_GRANT)
  })

  test('expires after 60 seconds', async ({ tenant, oidc, newCode }) => {
    const code = await newCode()
    const left = (await readCodeContents(tenant, code)).expiresAt.getTime() - Date.now()
    expect(left).toBeLessThanOrEqual(60_000)
    expect(left).toBeGreaterThan(30_000)
    const expired = await alterCode(tenant, code, { expiresAt: new Date() })
    expect(await oidc.exchange(expired)).toMatchObject(INVALID_GRANT)
    expect(await oidc.exchange(code)).toMatchObject({ status: 200 })
  })

  test('is rejected as invalid_request without redirect_uri or code, and from a public client without code_verifier', async ({
    newClient,
    client,
    oidc,
    newCode,
  }) => {
    const spa = await newClient({ appType: 'single-page' })
    const form = { grant_type: 'authorization_code', redirect_uri: REDIRECT_URI }
    const code = await newCode({}, spa)
    for (const [who, more] of [
      [client, { ...form }],
      [client, { grant_type: 'authorization_code', code }],
      [spa, { ...form, code }],
    ] as const)
      expect(await oidc.token(more, who)).toMatchObject({
        status: 400,
        body: { error: 'invalid_request' },
      })
    expect(await oidc.exchange(code, {}, { id: spa.id, secret: '' })).toMatchObject({ status: 200 })
  })

  test('leaves no live grant when the user is locked at the same time', async ({
    tenant,
    person,
    newBrowser,
    oidc,
  }) => {
    const address = person.email
    for (let round = 0; round < 5; round++) {
      const visitor = newBrowser()
      await dbFor(tenant).passcode.deleteMany({ where: { tenantId: tenant, address } })
      const { location } = await oidc.signIn(visitor, address)
      const { code = '' } = answerIn(location)
      const [answer] = await Promise.all([
        oidc.exchange(code),
        lockUser(createPlatformCtx(tenant), person.id),
      ])
      if (answer.status === 200)
        expect((await oidc.userinfo(answer.body.access_token as string)).status).toBe(401)
      const live = await dbFor(tenant).grant.count({
        where: { tenantId: tenant, userId: person.id, revokedAt: null },
      })
      expect(live).toBe(0)
      await unlockUser(createPlatformCtx(tenant), person.id)
    }
  })

  test('is not issued to a locked user', async ({ tenant, oidc, user, signedIn }) => {
    await lockUser(createPlatformCtx(tenant), user.id)
    const response = await signedIn.fetch(oidc.authorizePath({ prompt: 'none' }))
    expect(answerIn(response.headers.get('location'))).toEqual({
      error: 'login_required',
      error_description: 'The user must sign in.',
      state: 'a-state',
      iss: `http://localhost:3000/${tenant}`,
    })
  })
})
