import { describe, expect } from 'vitest'
import { newId } from '../../src/core/crypto.ts'
import { endSession } from '../../src/sessions/sessions.ts'
import { createUser, lockUser } from '../../src/users/users.ts'
import { ctxFor, newTenant } from '../support/actors.ts'
import { test } from '../support/sessions.ts'

describe('startSession', () => {
  test('stores only the hash of a token of 256 bits and records session.started', async ({
    ctx,
    events,
    userId,
    start,
    findRow,
  }) => {
    const { session, token } = await start({ seenFrom: { ip: '192.0.2.1', userAgent: 'Phone' } })
    expect(Buffer.from(token, 'base64url')).toHaveLength(32)
    expect(session).toEqual({
      tenantId: ctx.tenant,
      id: expect.stringMatching(/^session_/),
      userId,
      clientId: null,
      kind: 'api',
      organizationId: null,
      parentId: null,
      grantId: null,
      rotatedAt: null,
      refreshable: true,
      authenticatedAt: expect.any(Date),
      proofs: [{ method: 'passcode', amr: ['otp'], at: expect.any(String) }],
      amr: [],
      byManagement: false,
      lastSeenAt: expect.any(Date),
      lastSeenIp: '192.0.2.1',
      lastSeenLocation: null,
      userAgent: 'Phone',
      deviceId: null,
      expiresAt: expect.any(Date),
      endedAt: null,
      endReason: null,
      updatedAt: expect.any(Date),
      createdAt: expect.any(Date),
    })
    expect(JSON.stringify(await findRow(session.id))).not.toContain(token)
    expect(await events({ type: 'session.started' })).toEqual([
      expect.objectContaining({ userId, sessionId: session.id, detail: { kind: 'api', method: 'passcode' } }),
    ])
  })

  test('rejects a locked user, an unknown user, a user of another tenant and an ended parent session', async ({
    ctx,
    userId,
    start,
  }) => {
    const parent = await start({ kind: 'browser' })
    await endSession(ctx, parent.session.id, 'logout')
    await expect(start({ kind: 'oidc', parentId: parent.session.id })).rejects.toThrow(
      expect.objectContaining({ code: 'USER_LOCKED', status: 403 }),
    )
    await expect(start({ userId: newId('user') })).rejects.toThrow('locked')
    const other = await ctxFor(await newTenant())
    const stranger = await createUser(other, {})
    await expect(start({ userId: stranger.id })).rejects.toThrow('locked')
    await lockUser(ctx, userId)
    await expect(start()).rejects.toThrow('locked')
  })

  test('leaves no active session when the user is locked concurrently', async ({
    ctx,
    events,
    userId,
    start,
    listActiveIds,
  }) => {
    const starts = Array.from({ length: 20 }, () => start())
    const [, ...results] = await Promise.allSettled([lockUser(ctx, userId), ...starts])
    expect(results).toHaveLength(20)
    const rows = await listActiveIds()
    expect(rows).toEqual([])
    const started = results.filter(({ status }) => status === 'fulfilled').length
    expect(await events({ type: 'session.ended' })).toHaveLength(started)
  })
})
