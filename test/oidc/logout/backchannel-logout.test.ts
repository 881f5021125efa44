import { describe, expect } from 'vitest'
import { revokeUserConsent } from '../../../src/consents/consents.ts'
import { endSession } from '../../../src/sessions/sessions.ts'
import { type ListeningClient, test } from '../../support/backchannel-logout.ts'
import { dbFor } from '../../support/database.ts'
import { countStatements, countWarmStatements } from '../../support/statements.ts'

describe('the end of a session (OpenID Connect Back-Channel Logout 1.0)', () => {
  test('posts a logout token to each client of that session only (section 2.5)', async ({
    signIn,
    platform,
    sidsAt,
    received,
    untilDelivered,
  }) => {
    const person = await signIn(['one', 'silent', 'two'])
    const other = await signIn(['two'])
    await endSession(platform, person.sid, 'logout')
    for (const name of ['one', 'two'] as const) {
      const [request] = await received(name)
      expect(request?.form).toEqual({ logout_token: expect.any(String) })
    }
    await untilDelivered()
    expect([sidsAt('one'), sidsAt('two')]).toEqual([[person.sid], [person.sid]])
    expect(sidsAt('two')).not.toContain(other.sid)
  })

  test('sends a token with sub and sid that is valid for two minutes and has no nonce (section 2.4)', async ({
    tenant,
    signIn,
    clients,
    platform,
    received,
    listOutcomes,
    untilDelivered,
    validate,
  }) => {
    const person = await signIn(['one'])
    await endSession(platform, person.sid, 'logout')
    const { alg, claims } = await validate('one', (await received('one'))[0])
    expect(alg).toBe('ES256')
    expect(claims).toEqual({
      iss: `http://localhost:3000/${tenant}`,
      sub: person.user.id,
      aud: clients.one.id,
      iat: expect.any(Number),
      exp: (claims.iat as number) + 120,
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
      sid: person.sid,
    })
    await untilDelivered()
    expect(await listOutcomes()).toEqual([
      {
        type: 'logout.delivered',
        subjectIds: [clients.one.id],
        userId: person.user.id,
        sessionId: person.sid,
        detail: { attempts: 1, status: 200, fault: null },
      },
    ])
  })

  test('sends one token to a client that signed in several times in the session', async ({
    signIn,
    platform,
    sidsAt,
    untilDelivered,
  }) => {
    const person = await signIn(['one', 'one', 'one'])
    await endSession(platform, person.sid, 'logout')
    await untilDelivered()
    expect(sidsAt('one')).toEqual([person.sid])
  })

  test('takes no additional statement, nor does redeeming a code', async ({
    oidc,
    signIn,
    clients,
    platform,
    deliveries,
    newCode,
  }) => {
    const statements = async (name: ListeningClient) => {
      const { browser, sid } = await signIn([name])
      const [first, second] = [await newCode(browser, name), await newCode(browser, name)]
      return [
        await countWarmStatements(
          () => oidc.exchange(first, {}, clients[name]),
          () => oidc.exchange(second, {}, clients[name]),
        ),
        await countStatements(() => endSession(platform, sid, 'logout')),
      ]
    }
    await deliveries.stop()
    const silent = await statements('silent')
    expect([silent[0], await statements('one')]).toEqual([1, silent])
  })
})

describe('a client whose consent is revoked', () => {
  test('receives one logout token although the session continues; other clients receive none', async ({
    tenant,
    signIn,
    clients,
    platform,
    sidsAt,
    issueTokens,
    untilDelivered,
  }) => {
    const person = await signIn(['one', 'two'])
    const consent = { tenantId: tenant, userId: person.user.id, clientId: clients.one.id, scopes: ['openid'] }
    await dbFor(tenant).consent.create({ data: consent })
    await revokeUserConsent(platform, person.user.id, clients.one.id)
    await untilDelivered()
    expect([sidsAt('one'), sidsAt('two')]).toEqual([[person.sid], []])
    expect((await issueTokens(person.browser, 'two')).status).toBe(200)
    await endSession(platform, person.sid, 'logout')
    await untilDelivered()
    expect([sidsAt('one'), sidsAt('two')]).toEqual([[person.sid], [person.sid]])
  })

  test('receives another token when it was issued tokens again before the session ends', async ({
    tenant,
    signIn,
    clients,
    platform,
    sidsAt,
    issueTokens,
    untilDelivered,
  }) => {
    const person = await signIn(['one'])
    const consent = { tenantId: tenant, userId: person.user.id, clientId: clients.one.id, scopes: ['openid'] }
    await dbFor(tenant).consent.create({ data: consent })
    await revokeUserConsent(platform, person.user.id, clients.one.id)
    await issueTokens(person.browser, 'one')
    await endSession(platform, person.sid, 'logout')
    await untilDelivered()
    expect(sidsAt('one')).toEqual([person.sid, person.sid])
  })
})
