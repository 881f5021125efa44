import { decodeJwt } from 'jose'
import { describe, expect } from 'vitest'
import { updateClient } from '../../../src/clients/client-changes.ts'
import { createPlatformCtx } from '../../../src/context/context.ts'
import { dbFor } from '../../support/database.ts'
import { decide } from '../../support/device-flow.ts'
import { test } from '../../support/devices.ts'
import { toText } from '../../support/events.ts'
import { recordWarmStatements } from '../../support/statements.ts'

describe('a redeemed device code (RFC 8628, section 3.5)', () => {
  test('returns access, ID and refresh token once', async ({
    tenant,
    oidc,
    tv,
    user,
    newApprovedDevice,
    poll,
  }) => {
    const device = await newApprovedDevice()
    const { status, headers, body } = await poll(device)
    expect(status).toBe(200)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(body).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'openid profile offline_access',
      refresh_token: expect.any(String),
      id_token: expect.any(String),
    })
    const session = await dbFor(tenant).session.findFirstOrThrow({
      where: { tenantId: tenant, userId: user.id },
    })
    expect(decodeJwt(body.id_token as string)).toMatchObject({ sub: user.id, aud: tv.id, sid: session.id })
    expect(decodeJwt(body.id_token as string)).toHaveProperty('auth_time')
    expect((await oidc.userinfo(body.access_token as string)).status).toBe(200)
    expect((await oidc.refresh(body.refresh_token as string, {}, tv)).status).toBe(200)
    expect(await poll(device)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    // Unlike an authorization code, a replay does not revoke the tokens.
    expect((await oidc.userinfo(body.access_token as string)).status).toBe(200)
  })

  test('returns no ID token without openid and no refresh token without offline_access', async ({
    newApprovedDevice,
    poll,
  }) => {
    const { body } = await poll(await newApprovedDevice({ scope: 'profile' }))
    expect(Object.keys(body).sort()).toEqual(['access_token', 'expires_in', 'scope', 'token_type'])
  })

  test('returns a session token with scope session', async ({ newApprovedDevice, poll }) => {
    const { body } = await poll(await newApprovedDevice({ scope: 'openid session' }))
    expect(body).toHaveProperty('session_token')
  })

  test('issues tokens for granted resources only, and for the API only with a scope for it (RFC 8707)', async ({
    tenant,
    tv,
    newApprovedDevice,
    poll,
  }) => {
    const api = `http://localhost:3000/${tenant}/api`
    const device = await newApprovedDevice({ scope: 'openid', resource: api })
    expect(await poll(device, tv, { resource: 'https://else.example.com' })).toMatchObject({
      body: { error: 'invalid_target' },
    })
    const { body } = await poll(device, tv, { resource: api })
    expect(decodeJwt(body.access_token as string).aud).toBe(`http://localhost:3000/${tenant}/oidc/userinfo`)
  })

  test('grants the scopes that the role of the user covers at the approval and at the poll', async ({
    tenant,
    newClient,
    user,
    newApprovedDevice,
    poll,
  }) => {
    const office = await newClient({ appType: 'native', callbacks: [], scopes: ['users:read'] })
    const scope = 'openid users:read'
    const setRoles = (roles: string[]) =>
      dbFor(tenant).user.update({
        where: { tenantId_id: { tenantId: tenant, id: user.id } },
        data: { roles },
      })
    const scopeAfter = async (before: string[], atPoll: string[]) => {
      await setRoles(before)
      const device = await newApprovedDevice({ scope }, office)
      await setRoles(atPoll)
      const { body } = await poll(device, office)
      await setRoles([])
      return body.scope
    }
    expect(await scopeAfter(['admin'], ['admin'])).toBe(scope)
    expect(await scopeAfter(['admin'], [])).toBe('openid')
    // The consent page did not show the scope.
    expect(await scopeAfter([], ['admin'])).toBe('openid')
  })

  test('is rejected when the client has changed to a single-page client', async ({
    tenant,
    newClient,
    newApprovedDevice,
    poll,
  }) => {
    const client = await newClient()
    const device = await newApprovedDevice(undefined, client)
    await updateClient(createPlatformCtx(tenant), client.id, { appType: 'single-page' } as never)
    const answer = await poll(device, { ...client, secret: '' })
    expect(answer).toMatchObject({ status: 400, body: { error: 'unauthorized_client' } })
  })

  test('records approval, denial and grant without the codes', async ({
    tenant,
    tv,
    user,
    signedIn,
    newDevice,
    poll,
  }) => {
    const since = await dbFor(tenant).event.count({ where: { tenantId: tenant } })
    const [first, second] = [await newDevice(), await newDevice()]
    await decide(signedIn, tenant, first.shown, 'allow')
    await decide(signedIn, tenant, second.shown, 'deny')
    await poll(first)
    const events = await dbFor(tenant).event.findMany({
      where: { tenantId: tenant },
      orderBy: [{ xid: 'asc' }, { seq: 'asc' }],
      skip: since,
    })
    const session = expect.stringMatching(/^session_/)
    const person = { userId: user.id, sessionId: session, actorUserId: user.id, actorClientId: tv.id }
    expect(events.filter(({ type }) => type !== 'consent.granted')).toMatchObject([
      { type: 'device.approved', subjectIds: [tv.id], ...person },
      { type: 'device.denied', subjectIds: [tv.id], ...person },
      { type: 'grant.created', userId: user.id, sessionId: session, actorUserId: null, actorClientId: tv.id },
    ])
    const recorded = toText(events)
    for (const { shown, code } of [first, second])
      for (const secret of [shown, shown.replace('-', ''), code]) expect(recorded).not.toContain(secret)
  })
})

describe('the statements of the device grant', () => {
  test('are one to start, one to poll and one to redeem', async ({
    requestDevice,
    newDevice,
    newApprovedDevice,
    poll,
  }) => {
    const device = await newApprovedDevice()
    const warm = async () => {
      await requestDevice()
      await poll(await newApprovedDevice())
    }
    const sent = await recordWarmStatements(warm, async () => {
      const pending = await newDevice()
      await poll(pending)
      await poll(device)
    })
    expect(sent.map((text) => /INSERT INTO "DeviceCode"|polled AS/.exec(text)?.[0])).toEqual([
      'INSERT INTO "DeviceCode"',
      'polled AS',
      'polled AS',
    ])
    for (const statement of sent) expect(statement).toMatch(/"tenantId"/)
  })
})
