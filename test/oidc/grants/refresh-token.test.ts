import { describe, expect } from 'vitest'
import { updateClient } from '../../../src/clients/client-changes.ts'
import { createPlatformCtx } from '../../../src/context/context.ts'
import { authenticateSession } from '../../../src/sessions/authenticate-session.ts'
import { endSession } from '../../../src/sessions/sessions.ts'
import { deleteUser, lockUser } from '../../../src/users/users.ts'
import { newTenant } from '../../support/actors.ts'
import { dbFor } from '../../support/database.ts'
import { makeClient, refreshWith } from '../../support/protocol.ts'
import { test as base } from '../../support/visitor.ts'

const OFFLINE_SCOPE = 'openid email offline_access'

/** The response to a refresh token that is not accepted. */
const INVALID_REFRESH_TOKEN = {
  status: 400,
  body: {
    error: 'invalid_grant',
    error_description: 'The refresh token is invalid, expired, or was used before.',
  },
}

const toGrantId = (refreshToken: string): string => refreshToken.split('.')[0] as string

/** `test` with the grants of refresh tokens. */
const test = base
  /** A refresh token of a user who is signed in for this test alone. */
  .extend('refreshToken', async ({ ownVisitor }) => {
    const { refresh_token: token } = await ownVisitor.newTokens({ scope: OFFLINE_SCOPE })
    return token
  })
  .extend(
    'findGrant',
    { scope: 'file' },
    ({ tenant }) =>
      (token: string) =>
        dbFor(tenant).grant.findUniqueOrThrow({
          where: { tenantId_id: { tenantId: tenant, id: toGrantId(token) } },
        }),
  )
  .extend(
    'changeGrant',
    { scope: 'file' },
    ({ tenant }) =>
      (token: string, data: object) =>
        dbFor(tenant).grant.update({
          where: { tenantId_id: { tenantId: tenant, id: toGrantId(token) } },
          data,
        }),
  )
  /** Lists the types of the events about a token's grant. */
  .extend('listEventTypes', { scope: 'file' }, ({ tenant }) => async (token: string): Promise<string[]> => {
    const events = await dbFor(tenant).event.findMany({
      where: { tenantId: tenant, subjectIds: { has: toGrantId(token) } },
      orderBy: { seq: 'asc' },
    })
    return events.map(({ type }) => type)
  })

describe('a refresh token (RFC 6749, section 6; RFC 9700, section 4.14.2)', () => {
  test('is issued only for the scope offline_access (OIDC Core, section 11)', async ({ ownVisitor }) => {
    expect(await ownVisitor.newTokens({ scope: 'openid' })).not.toHaveProperty('refresh_token')
    expect(await ownVisitor.newTokens({ scope: OFFLINE_SCOPE })).toHaveProperty('refresh_token')
  })

  test('rotates with each use, and records grant.refreshed once in a clock hour', async ({
    oidc,
    refreshToken,
    listEventTypes,
  }) => {
    const second = await oidc.refresh(refreshToken)
    expect(second.status).toBe(200)
    expect(second.body).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 3600,
      scope: OFFLINE_SCOPE,
      id_token: expect.any(String),
      refresh_token: expect.stringContaining('.1.'),
    })
    const third = await oidc.refresh(second.body.refresh_token as string)
    expect(third.body.refresh_token).toContain('.2.')
    expect((await oidc.userinfo(third.body.access_token as string)).status).toBe(200)
    expect(await listEventTypes(refreshToken)).toEqual(['grant.created', 'grant.refreshed'])
  })

  test('records grant.refreshed again when the last rotation was in an earlier clock hour', async ({
    oidc,
    refreshToken,
    changeGrant,
    listEventTypes,
  }) => {
    const second = await oidc.refresh(refreshToken)
    const hourStart = Math.floor(Date.now() / 3_600_000) * 3_600_000
    await changeGrant(refreshToken, { rotatedAt: new Date(hourStart) })
    const third = await oidc.refresh(second.body.refresh_token as string)
    expect(await listEventTypes(refreshToken)).toEqual(['grant.created', 'grant.refreshed'])
    await changeGrant(refreshToken, { rotatedAt: new Date(hourStart - 1) })
    expect((await oidc.refresh(third.body.refresh_token as string)).status).toBe(200)
    expect(await listEventTypes(refreshToken)).toEqual([
      'grant.created',
      'grant.refreshed',
      'grant.refreshed',
    ])
  })

  test('returns the identical successor to a retry within 30 seconds, and records no event for it', async ({
    oidc,
    refreshToken,
    findGrant,
    listEventTypes,
  }) => {
    const [first, retry] = [await oidc.refresh(refreshToken), await oidc.refresh(refreshToken)]
    expect(retry.status).toBe(200)
    expect(retry.body.refresh_token).toBe(first.body.refresh_token)
    expect(await listEventTypes(refreshToken)).toEqual(['grant.created', 'grant.refreshed'])
    expect((await findGrant(refreshToken)).generation).toBe(1)
  })

  test('survives the change of rotateRefreshTokens between a use and its retry, with one grant', async ({
    ctx,
    client,
    oidc,
    refreshToken,
    findGrant,
  }) => {
    const rotate = (rotateRefreshTokens: boolean) => updateClient(ctx, client.id, { rotateRefreshTokens })
    const first = await oidc.refresh(refreshToken)
    await rotate(false)
    const retry = await oidc.refresh(refreshToken)
    const kept = await oidc.refresh(retry.body.refresh_token as string)
    await rotate(true)
    const next = await oidc.refresh(kept.body.refresh_token as string)
    const last = await oidc.refresh(kept.body.refresh_token as string)
    const generations = [first, retry, kept, next, last].map(({ body }) => body.refresh_token?.split('.')[1])
    expect(generations.join(' ')).toBe('1 1 1 2 2')
    expect(await findGrant(refreshToken)).toMatchObject({ generation: 2, revokedAt: null })
  })

  test('returns the identical successor to 50 concurrent uses, and rotates once', async ({
    oidc,
    refreshToken,
    findGrant,
    listEventTypes,
  }) => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => oidc.refresh(refreshToken)))
    expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200))
    expect(new Set(answers.map(({ body }) => body.refresh_token)).size).toBe(1)
    const { generation, revokedAt } = await findGrant(refreshToken)
    expect({ generation, revokedAt }).toEqual({ generation: 1, revokedAt: null })
    expect(await listEventTypes(refreshToken)).toEqual(['grant.created', 'grant.refreshed'])
  })

  test('revokes the grant with all its tokens when it is used again after 30 seconds', async ({
    tenant,
    oidc,
    refreshToken,
    changeGrant,
    listEventTypes,
  }) => {
    const second = await oidc.refresh(refreshToken)
    await changeGrant(refreshToken, { rotatedAt: new Date(Date.now() - 31_000) })
    expect(await oidc.refresh(refreshToken)).toMatchObject(INVALID_REFRESH_TOKEN)
    expect(await oidc.refresh(second.body.refresh_token as string)).toMatchObject(INVALID_REFRESH_TOKEN)
    expect((await oidc.userinfo(second.body.access_token as string)).status).toBe(401)
    expect(await listEventTypes(refreshToken)).toEqual(['grant.created', 'grant.refreshed', 'grant.revoked'])
    const where = { tenantId: tenant, type: 'grant.revoked' }
    const revoked = await dbFor(tenant).event.findFirst({ where, orderBy: { seq: 'desc' } })
    expect(revoked?.detail).toEqual({ reason: 'refresh token replayed' })
  })

  test('ends the client session of the grant when it is replayed, as a replayed code does', async ({
    tenant,
    client,
    oidc,
    ownVisitor,
    events,
  }) => {
    const tokens = await ownVisitor.newTokens({ scope: `${OFFLINE_SCOPE} session` })
    const use = () =>
      authenticateSession(createPlatformCtx(tenant), {
        sessionToken: tokens.session_token,
        clientId: client.id,
      })
    const { session } = await use()
    const second = await oidc.refresh(tokens.refresh_token)
    await oidc.refresh(second.body.refresh_token as string)
    expect(await oidc.refresh(tokens.refresh_token)).toMatchObject(INVALID_REFRESH_TOKEN)
    await expect(use()).rejects.toThrow('not valid')
    const ends = (await events({ type: 'session.ended' })).filter(({ sessionId }) => sessionId === session.id)
    expect(ends).toMatchObject([{ subjectIds: [client.id], detail: { reason: 'revoked' } }])
  })

  test('revokes the grant when it is two generations old', async ({ oidc, refreshToken }) => {
    const second = await oidc.refresh(refreshToken)
    const third = await oidc.refresh(second.body.refresh_token as string)
    expect(await oidc.refresh(refreshToken)).toMatchObject(INVALID_REFRESH_TOKEN)
    expect(await oidc.refresh(third.body.refresh_token as string)).toMatchObject(INVALID_REFRESH_TOKEN)
  })

  test('is rejected, without a revocation, when its generation is later than the stored one', async ({
    oidc,
    refreshToken,
    findGrant,
    changeGrant,
  }) => {
    const second = await oidc.refresh(refreshToken)
    await changeGrant(refreshToken, { generation: 0 })
    expect(await oidc.refresh(second.body.refresh_token as string)).toMatchObject(INVALID_REFRESH_TOKEN)
    expect((await findGrant(refreshToken)).revokedAt).toBeNull()
    expect((await oidc.refresh(refreshToken)).status).toBe(200)
  })

  test('is rejected for another client and for its own client without authentication', async ({
    newClient,
    client,
    oidc,
    refreshToken,
  }) => {
    const other = await newClient()
    const form = { grant_type: 'refresh_token', refresh_token: refreshToken }
    expect(await oidc.refresh(refreshToken, {}, other)).toMatchObject(INVALID_REFRESH_TOKEN)
    for (const secret of [{}, { client_secret: 'wrong' }] as Record<string, string>[])
      expect(await oidc.token({ ...form, client_id: client.id, ...secret }, null)).toMatchObject({
        status: 401,
        body: { error: 'invalid_client' },
      })
    expect((await oidc.refresh(refreshToken)).status).toBe(200)
  })

  test('is rejected at the token endpoint of another tenant', async ({ app, refreshToken }) => {
    const elsewhere = await newTenant()
    expect(await refreshWith(app, elsewhere, await makeClient(elsewhere), refreshToken)).toMatchObject(
      INVALID_REFRESH_TOKEN,
    )
  })

  test('may request fewer scopes and keeps the granted ones, but gains none (RFC 6749, section 6)', async ({
    oidc,
    refreshToken,
  }) => {
    const narrow = await oidc.refresh(refreshToken, { scope: 'openid' })
    expect(narrow).toMatchObject({ status: 200, body: { scope: 'openid' } })
    const wide = await oidc.refresh(narrow.body.refresh_token as string)
    expect(wide.body.scope).toBe(OFFLINE_SCOPE)
    const growing = await oidc.refresh(wide.body.refresh_token as string, { scope: 'openid profile' })
    expect(growing).toMatchObject({ status: 400, body: { error: 'invalid_scope' } })
    expect((await oidc.refresh(wide.body.refresh_token as string)).status).toBe(200)
  })

  test('expires 30 days after its last use, and 90 days after the grant', async ({
    oidc,
    refreshToken,
    findGrant,
    changeGrant,
  }) => {
    const day = 86_400_000
    const { createdAt, idleExpiresAt, expiresAt } = await findGrant(refreshToken)
    expect([idleExpiresAt, expiresAt].map((end) => (end.getTime() - createdAt.getTime()) / day)).toEqual([
      30, 90,
    ])
    await changeGrant(refreshToken, { expiresAt: new Date(Date.now() + day) })
    const second = await oidc.refresh(refreshToken)
    expect((await findGrant(refreshToken)).idleExpiresAt.getTime()).toBeLessThanOrEqual(Date.now() + day)
    await changeGrant(refreshToken, { idleExpiresAt: new Date(Date.now() - 1) })
    expect(await oidc.refresh(second.body.refresh_token as string)).toMatchObject(INVALID_REFRESH_TOKEN)
    await changeGrant(refreshToken, {
      idleExpiresAt: new Date(Date.now() + day),
      expiresAt: new Date(Date.now() - 1),
    })
    expect(await oidc.refresh(second.body.refresh_token as string)).toMatchObject(INVALID_REFRESH_TOKEN)
  })

  test('stays valid when the session ends', async ({ tenant, oidc, findGrant, ownVisitor }) => {
    const tokens = await ownVisitor.newTokens({ scope: OFFLINE_SCOPE })
    const { sessionId } = await findGrant(tokens.refresh_token as string)
    await endSession(createPlatformCtx(tenant), sessionId as string, 'logout')
    const refreshed = await oidc.refresh(tokens.refresh_token as string)
    expect(refreshed.status).toBe(200)
    expect((await oidc.userinfo(refreshed.body.access_token as string)).status).toBe(200)
  })

  test.for([
    ['locked', lockUser],
    ['deleted', deleteUser],
  ] as const)('is rejected when its user is %s', async ([_name, end], { tenant, oidc, ownVisitor }) => {
    const tokens = await ownVisitor.newTokens({ scope: OFFLINE_SCOPE })
    await end(createPlatformCtx(tenant), ownVisitor.user.id)
    expect(await oidc.refresh(tokens.refresh_token as string)).toMatchObject(INVALID_REFRESH_TOKEN)
    expect((await oidc.userinfo(tokens.access_token as string)).status).toBe(401)
  })

  test('leaves no valid token when the user is locked at the same time', async ({
    tenant,
    oidc,
    refreshToken,
    findGrant,
    ownVisitor,
  }) => {
    const [answer] = await Promise.all([
      oidc.refresh(refreshToken),
      lockUser(createPlatformCtx(tenant), ownVisitor.user.id),
    ])
    if (answer.status === 200)
      expect((await oidc.userinfo(answer.body.access_token as string)).status).toBe(401)
    expect((await findGrant(refreshToken)).revokedAt).not.toBeNull()
  })

  test('is stored as a hash', async ({ refreshToken, findGrant }) => {
    const [, , secret = '', mac = ''] = refreshToken.split('.')
    const stored = JSON.stringify(await findGrant(refreshToken))
    expect(stored).not.toContain(secret)
    expect(stored).not.toContain(mac)
  })
})
