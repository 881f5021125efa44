import { describe, expect } from 'vitest'
import { updateClient } from '../../../src/clients/client-changes.ts'
import { issueLogoutToken } from '../../../src/oidc/logout/backchannel-logout.ts'
import { revokeUserSessions } from '../../../src/sessions/revoke-sessions.ts'
import { test } from '../../support/backchannel-logout.ts'
import { answerIn } from '../../support/protocol.ts'

describe('a logout token', () => {
  test.for(['RS256', 'ES384', 'EdDSA'])(
    'is signed by the algorithm of the ID tokens of its client: %s',
    async (alg, { clients, platform, received, makeSessions, validate }) => {
      await updateClient(platform, clients.one.id, { idTokenSigningAlg: alg })
      const { userId, ids } = await makeSessions('one', 1)
      await revokeUserSessions(platform, userId)
      const { alg: used, claims } = await validate('one', (await received('one'))[0])
      expect([used, claims.sid]).toEqual([alg, ids[0]])
    },
  )

  test('is rejected as an ID token hint and as an access token (section 2.4)', async ({
    tenant,
    oidc,
    signIn,
    clients,
  }) => {
    const person = await signIn()
    const token = await issueLogoutToken({
      tenantId: tenant,
      id: 'x',
      recipientId: clients.one.id,
      userId: person.user.id,
      sessionId: person.sid,
      attempts: 1,
      expiresAt: new Date(),
      alg: null,
    })
    const logout = await person.browser.fetch(
      `/${tenant}/oidc/logout?${new URLSearchParams({ id_token_hint: token })}`,
    )
    expect([logout.status, await logout.text()]).toEqual([
      400,
      expect.stringContaining('You are still signed in'),
    ])
    expect((await oidc.userinfo(token)).status).toBe(401)
    const authorize = await person.browser.fetch(oidc.authorizePath({ prompt: 'none', id_token_hint: token }))
    expect(answerIn(authorize.headers.get('location')).code).toBeUndefined()
  })
})
