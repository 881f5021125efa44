import { describe, expect } from 'vitest'
import { authenticateSession } from '../../src/sessions/authenticate-session.ts'
import { findBrowserSession } from '../../src/sessions/sessions.ts'
import { setClock } from '../support/passcodes.ts'
import { INVALID_SESSION_TOKEN, test } from '../support/sessions.ts'

describe('rotation of a session token', () => {
  test('returns a new token and accepts the previous one for 10 s', async ({ ctx, events, start }) => {
    const began = Date.now()
    setClock(began)
    const { session, token } = await start()
    const { sessionToken } = await authenticateSession(ctx, { sessionToken: token, rotateSessionToken: true })
    expect(Buffer.from(sessionToken ?? '', 'base64url')).toHaveLength(32)
    expect(sessionToken).not.toBe(token)
    setClock(began + 9_900)
    const old = await authenticateSession(ctx, { sessionToken: token })
    expect(old).toMatchObject({ session: { id: session.id }, sessionToken: null })
    setClock(began + 10_100)
    await expect(authenticateSession(ctx, { sessionToken: token })).rejects.toThrow(INVALID_SESSION_TOKEN)
    const current = await authenticateSession(ctx, { sessionToken: sessionToken ?? '' })
    expect(current.session.id).toBe(session.id)
    expect(await events({ type: 'session.refreshed' })).toEqual([
      expect.objectContaining({ sessionId: session.id, detail: { rotated: true } }),
    ])
  })

  test('returns the same new token to a retry with the previous token', async ({ ctx, start }) => {
    const { token } = await start()
    const rotate = () => authenticateSession(ctx, { sessionToken: token, rotateSessionToken: true })
    const first = await rotate()
    const retries = await Promise.all([rotate(), rotate()])
    expect(retries.map(({ sessionToken }) => sessionToken)).toEqual([first.sessionToken, first.sessionToken])
    await authenticateSession(ctx, { sessionToken: first.sessionToken })
  })

  test('returns the same new token to 20 concurrent rotations', async ({ ctx, start }) => {
    const { token } = await start()
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        authenticateSession(ctx, { sessionToken: token, rotateSessionToken: true }),
      ),
    )
    const tokens = new Set(answers.map(({ sessionToken }) => sessionToken))
    expect(tokens.size).toBe(1)
    const [successor] = tokens
    await authenticateSession(ctx, { sessionToken: successor })
  })

  test('leaves the token and the expiry of a browser session unchanged', async ({ ctx, startBrowser }) => {
    const { session, token } = await startBrowser()
    const answer = await authenticateSession(ctx, {
      sessionToken: token,
      rotateSessionToken: true,
      sessionExpirationMinutes: 60,
    })
    expect(answer).toMatchObject({
      session: { id: session.id, expiresAt: session.expiresAt },
      sessionToken: null,
    })
    expect(await findBrowserSession(ctx.tenant, token)).toMatchObject({ id: session.id })
  })
})
