import { describe, expect } from 'vitest'
import { newId } from '../../src/core/crypto.ts'
import { tokenFor } from '../support/actors.ts'
import { notFound, test } from '../support/session-surfaces.ts'

describe('sessions over REST', () => {
  test('are listed, read and revoked', async ({ rest, start, userId, toBody }) => {
    const [one, two] = [(await start()).session.id, (await start()).session.id]
    expect(await rest('GET', `/users/${userId}/sessions?pageSize=1`)).toMatchObject({
      status: 200,
      body: { page: 0, pageSize: 1, totalSize: 2, endsEarly: false, sessions: [toBody(one)] },
    })
    const got = await rest('GET', `/sessions/${two}`)
    expect(got.status).toBe(200)
    expect(got.body).toEqual(toBody(two))
    const revoked = await rest('DELETE', `/sessions/${one}`)
    expect(revoked.status).toBe(200)
    expect(revoked.body).toEqual({
      message: 'The session is revoked.',
      requestId: revoked.headers.get('x-request-id'),
      fields: [],
    })
    for (const method of ['GET', 'DELETE']) {
      const gone = await rest(method, `/sessions/${one}`)
      expect(gone.status).toBe(404)
      expect(gone.body).toEqual(notFound('session'))
    }
    const all = await rest('DELETE', `/users/${userId}/sessions`)
    expect(all).toMatchObject({
      status: 200,
      body: { message: 'The sessions of the user are revoked.', fields: [] },
    })
    expect((await rest('GET', `/users/${userId}/sessions`)).body).toEqual({
      page: 0,
      pageSize: 50,
      totalSize: 0,
      endsEarly: false,
      sessions: [],
    })
    for (const method of ['GET', 'DELETE'])
      expect((await rest(method, `/users/${newId('user')}/sessions`)).body).toEqual(notFound('user'))
  })

  test('authenticate a session token and reject an invalid one with 401', async ({
    rest,
    start,
    userId,
    toBody,
  }) => {
    const { session, token: sessionToken } = await start()
    const answer = await rest('POST', '/sessions/authenticate', { sessionToken, rotateSessionToken: true })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.body).toEqual({
      session: toBody(session.id),
      sessionToken: expect.stringMatching(/^[\w-]{43}$/),
      user: expect.objectContaining({ id: userId, name: 'Ada' }),
    })
    const wrong = await rest('POST', '/sessions/authenticate', { sessionToken: `${sessionToken}x` })
    expect(wrong.status).toBe(401)
    expect(wrong.headers.get('www-authenticate')).toBe('Credential')
    expect(wrong.body).toEqual({
      message: 'The session token is not valid.',
      requestId: wrong.headers.get('x-request-id'),
      fields: [],
      code: 'INVALID_CREDENTIAL',
    })
    const bad = await rest('POST', '/sessions/authenticate', { sessionExpirationMinutes: 1.5 })
    expect(bad).toMatchObject({
      status: 400,
      body: {
        fields: [
          { field: 'sessionToken', description: 'is required' },
          { field: 'sessionExpirationMinutes', description: 'must be a whole number from 0 to 129600' },
        ],
      },
    })
  })

  test('require the scope of each operation', async ({ ctx, rest, start, userId }) => {
    const reader = await tokenFor(ctx.tenant, ['sessions:read'])
    const { session } = await start()
    expect((await rest('GET', `/sessions/${session.id}`, undefined, { token: reader })).status).toBe(200)
    for (const [method, path, scope] of [
      ['DELETE', `/sessions/${session.id}`, 'sessions:write'],
      ['DELETE', `/users/${userId}/sessions`, 'sessions:write'],
      ['POST', '/sessions/authenticate', 'sessions:write'],
      ['POST', '/passcodes/email', 'passcodes:write'],
      ['POST', '/passcodes/sms', 'passcodes:write'],
      ['POST', '/passcodes/authenticate', 'passcodes:write'],
    ] as const)
      expect(await rest(method, path, method === 'POST' ? {} : undefined, { token: reader })).toMatchObject({
        status: 403,
        body: { message: expect.stringContaining(scope) },
      })
  })
})
