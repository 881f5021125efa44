import { decodeJwt } from 'jose'
import { describe, expect } from 'vitest'
import { deleteClient, updateClient } from '../../../src/clients/client-changes.ts'
import { createPlatformCtx } from '../../../src/context/context.ts'
import { dbFor } from '../../support/database.ts'
import { toTypes } from '../../support/events.ts'
import { basic } from '../../support/protocol.ts'
import { countWarmStatements } from '../../support/statements.ts'
import { test as base } from '../../support/visitor.ts'

const SCOPE = 'openid email offline_access session'
/** The response to a revocation (RFC 7009, section 2.2). */
const DONE = { status: 200, body: {} }

/** `test` with the tokens of a user who is signed in for one test, and the revocation endpoint. */
const test = base
  .extend('tokens', ({ ownVisitor }) => ownVisitor.newTokens({ scope: SCOPE }))
  .extend(
    'revoke',
    { scope: 'file' },
    ({ app, tenant, client }) =>
      async (form: Record<string, string>, by: { id: string; secret: string } | null = client) => {
        const response = await app.fetch(`/${tenant}/oidc/revoke`, {
          method: 'POST',
          headers: by ? { authorization: basic(by) } : {},
          body: new URLSearchParams(form),
        })
        return { status: response.status, body: await response.json(), headers: response.headers }
      },
  )

describe('the revocation endpoint (RFC 7009)', () => {
  test.for<[kind: 'access_token' | 'refresh_token', hint: string]>([
    ['refresh_token', 'refresh_token'],
    ['refresh_token', 'access_token'],
    ['access_token', 'access_token'],
    ['access_token', 'nonsense'],
  ])(
    'revokes every token of the grant by a %s with the hint %s (section 2.1)',
    async ([kind, hint], { events, client, oidc, tokens, revoke }) => {
      expect((await oidc.userinfo(tokens.access_token)).status).toBe(200)
      expect(await revoke({ token: tokens[kind], token_type_hint: hint })).toMatchObject(DONE)
      expect((await oidc.userinfo(tokens.access_token)).status).toBe(401)
      expect((await oidc.refresh(tokens.refresh_token)).status).toBe(400)
      // Both are written by one statement, in any order; the rejected refresh is recorded after them.
      const recorded = (await events())
        .filter(({ type }) => type !== 'token.refused')
        .slice(-2)
        .sort((one, other) => one.type.localeCompare(other.type))
      expect(recorded).toMatchObject([
        { type: 'grant.revoked', detail: { reason: 'revoked' }, actorClientId: client.id },
        { type: 'session.ended', detail: { reason: 'revoked' }, actorClientId: client.id },
      ])
    },
  )

  test('answers 200 and records nothing for an invalid or revoked token (section 2.2)', async ({
    events,
    oidc,
    tokens,
    revoke,
  }) => {
    const before = (await events()).length
    for (const token of ['nonsense', `${tokens.access_token}x`, 'grant_x.0.a.b'])
      expect(await revoke({ token })).toMatchObject(DONE)
    expect((await events()).length).toBe(before)
    expect((await oidc.userinfo(tokens.access_token)).status).toBe(200)
    const { refresh_token } = tokens
    expect([await revoke({ token: refresh_token }), await revoke({ token: refresh_token })]).toMatchObject([
      DONE,
      DONE,
    ])
    expect((await events()).length).toBe(before + 2)
  })

  test('revokes no token of another client (section 2.1)', async ({ newClient, oidc, tokens, revoke }) => {
    const other = await newClient()
    expect(await revoke({ token: tokens.access_token as string }, other)).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant' },
    })
    expect(await revoke({ token: tokens.refresh_token as string }, other)).toMatchObject(DONE)
    expect([
      (await oidc.userinfo(tokens.access_token)).status,
      (await oidc.refresh(tokens.refresh_token)).status,
    ]).toEqual([200, 200])
  })

  test('requires client authentication and a token (sections 2.1 and 2.2.1)', async ({
    client,
    oidc,
    tokens,
    revoke,
  }) => {
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
    expect((await oidc.userinfo(tokens.access_token)).status).toBe(200)
  })

  test('answers unsupported_token_type to the access token of a machine client (section 2.2.1)', async ({
    token,
    revoke,
  }) => {
    expect(await revoke({ token: token })).toMatchObject({
      status: 400,
      body: { error: 'unsupported_token_type' },
    })
  })

  test('sends one statement for a revocation', async ({ tokens, revoke }) => {
    const { refresh_token } = tokens
    expect(
      await countWarmStatements(
        () => revoke({ token: 'nonsense' }),
        () => revoke({ token: refresh_token }),
      ),
    ).toBe(1)
  })
})

describe('a client that loses its secret', () => {
  test.for(['single-page', 'native'])(
    'loses the grants that it had with its secret when it becomes %s',
    async (appType, { tenant, events, newClient, oidc, ownVisitor }) => {
      const own = await newClient()
      const tokens = await ownVisitor.newTokens({ scope: SCOPE }, own)
      const userinfoStatus = async () => (await oidc.userinfo(tokens.access_token)).status
      const ctx = createPlatformCtx(tenant)
      const grantId = decodeJwt(tokens.access_token as string).gid
      // Neither a rejected change nor one that leaves the secret revokes anything.
      const rejected = updateClient(ctx, own.id, { appType, callbacks: ['x'] })
      await expect(rejected).rejects.toMatchObject({ code: 'BAD_USER_INPUT' })
      await updateClient(ctx, own.id, { name: 'Renamed', appType: 'web' })
      expect(await userinfoStatus()).toBe(200)
      await updateClient(ctx, own.id, { appType })
      expect(await userinfoStatus()).toBe(401)
      const answer = await oidc.token(
        {
          grant_type: 'refresh_token',
          refresh_token: tokens.refresh_token as string,
          client_id: own.id,
        },
        null,
      )
      expect([answer.status, answer.body.error]).toEqual([400, 'invalid_grant'])
      const recorded = await events({ subjectId: grantId as string })
      expect(toTypes(recorded)).toEqual(['grant.created', 'grant.revoked'])
      const sessions = await dbFor(tenant).session.findMany({
        where: { tenantId: tenant, grantId: grantId as string },
      })
      expect(sessions.map(({ endReason }) => endReason)).toEqual(['revoked'])
    },
  )

  test('is changed and deleted at the same time without a deadlock', async ({
    tenant,
    newClient,
    newPerson,
  }) => {
    for (let round = 0; round < 8; round++) {
      const { id } = await newClient()
      const { id: userId } = await newPerson()
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
      const ctx = createPlatformCtx(tenant)
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
