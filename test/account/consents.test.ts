import { describe, expect } from 'vitest'
import { test as base, type Caller } from '../support/account.ts'
import { dbFor } from '../support/database.ts'
import type { Json } from '../support/json.ts'
import { doneBy, makeSpa } from '../support/people.ts'
import { answerIn } from '../support/protocol.ts'
import { recordStatements } from '../support/statements.ts'

const LIST_CONSENTS = `query ($first: Int, $after: String) { viewer { user { consents(first: $first, after: $after) {
  totalSize pageInfo { endCursor hasNextPage }
  nodes { clientId clientName clientLogoUrl createdAt scopes { scope words } }
} } } }`

/** With users who have agreed to client `portal`, and their consents. */
const test = base
  .extend('portal', { scope: 'file' }, ({ tenant }) => makeSpa(tenant, { name: 'Portal' }))
  .extend('newSignedIn', { scope: 'file' }, ({ newPerson, signIn, portal }) => async () => {
    const { email } = await newPerson()
    return { email, ...(await signIn(email, { client: portal, scope: 'openid account' })) }
  })
  .extend(
    'listConsents',
    { scope: 'file' },
    ({ gql }) =>
      async ({ token }: Caller, variables: object = {}) =>
        (await gql(LIST_CONSENTS, variables, { token })).body.data.viewer.user.consents,
  )
  .extend(
    'revoke',
    { scope: 'file' },
    ({ mutate }) =>
      (caller: Caller, clientId: string) =>
        mutate(
          caller,
          'revokeViewerConsent',
          { clientId },
          '... on RevokeViewerConsentPayload { revokedClientId }',
        ),
  )

describe('the consents of the viewer', () => {
  test('are listed by page with the client and the words for each scope', async ({
    tenant,
    signIn,
    portal,
    signedIn,
    listConsents,
  }) => {
    const logoUrl = 'https://game.example.com/logo.png'
    const game = await makeSpa(tenant, { name: 'Game', logoUrl, requireConsent: true })
    await signIn(signedIn.email, { client: game, scope: 'openid email', browser: signedIn.browser })
    const all = await listConsents(signedIn)
    expect(all.totalSize).toBe(2)
    expect(all.nodes).toEqual([
      {
        clientId: portal.id,
        clientName: 'Portal',
        clientLogoUrl: null,
        createdAt: expect.any(String),
        scopes: expect.arrayContaining([
          {
            scope: 'account',
            words:
              'Change your profile, your addresses, how you sign in, and which apps may use your account',
          },
        ]),
      },
      {
        clientId: game.id,
        clientName: 'Game',
        clientLogoUrl: logoUrl,
        createdAt: expect.any(String),
        scopes: expect.arrayContaining([{ scope: 'email', words: 'See your email address' }]),
      },
    ])
    const first = await listConsents(signedIn, { first: 1 })
    expect([first.nodes[0].clientId, first.pageInfo.hasNextPage]).toEqual([portal.id, true])
    const second = await listConsents(signedIn, { first: 1, after: first.pageInfo.endCursor })
    expect([second.nodes[0].clientId, second.pageInfo.hasNextPage]).toEqual([game.id, false])
  })

  test('of all users are read by a client in one statement', async ({ gql, newSignedIn }) => {
    for (let i = 0; i < 3; i++) await newSignedIn()
    const query = '{ users { nodes { id consents(first: 5) { nodes { clientName } } } } }'
    const run = async () => {
      const { body } = await gql(query)
      expect(body.data.users.nodes.at(-1).consents.nodes).toEqual([{ clientName: 'Portal' }])
    }
    await run()
    // A cache entry that expires concurrently is read again by another statement.
    const statements = (await recordStatements(run)).filter((text) => /"(User|Consent)"/.test(text))
    expect(statements).toHaveLength(1)
    const blind = await gql(
      '{ viewer { client { id } } users { nodes { id } } }',
      {},
      { scopes: ['sessions:read'] },
    )
    expect(blind.body.data.users).toBeNull()
  })

  test('are revoked with the access token, the refresh token and the session of the client', async ({
    tenant,
    oidc,
    signIn,
    portal,
    signedIn,
    listConsents,
    revoke,
    statusOf,
  }) => {
    const game = await makeSpa(tenant, { name: 'Game', requireConsent: true })
    const at = { browser: signedIn.browser, scope: 'openid email account session offline_access' }
    const played = await signIn(signedIn.email, { client: game, ...at })
    const other = await makeSpa(tenant, { name: 'Other', requireConsent: true })
    const untouched = await signIn(signedIn.email, { client: other, ...at })
    const where = { tenantId: tenant, userId: signedIn.userId, clientId: game.id }
    expect(await dbFor(tenant).session.count({ where: { ...where, endedAt: null } })).toBe(1)

    expect(await revoke(signedIn, game.id)).toEqual({
      __typename: 'RevokeViewerConsentPayload',
      revokedClientId: game.id,
    })
    expect(await statusOf(played)).toBe(401)
    const refreshed = await oidc.refresh(played.answer.refresh_token ?? '', {}, game)
    expect(refreshed.body.error).toBe('invalid_grant')
    expect(await dbFor(tenant).session.count({ where: { ...where, endedAt: null } })).toBe(0)
    expect((await listConsents(signedIn)).nodes.map(({ clientId }: Json) => clientId)).toEqual([
      portal.id,
      other.id,
    ])
    expect([await statusOf(signedIn), await statusOf(untouched)]).toEqual([200, 200])

    const own = (await doneBy(tenant, signedIn)).filter(({ actorClientId }) => actorClientId === portal.id)
    expect(own.map(({ type }) => type)).toEqual(['consent.revoked', 'session.ended', 'grant.revoked'])
    expect(own[0]).toMatchObject({ userId: signedIn.userId, subjectIds: [game.id] })
    expect(await revoke(signedIn, game.id)).toMatchObject({ code: 'NOT_FOUND' })

    // The next authorize request asks for consent again.
    const page = await signedIn.browser.open(oidc.authorizePath({ scope: 'openid email', state: null }, game))
    expect(page.path).toMatch(/\/consent$/)
  })

  test('are revoked with the unused codes of the client', async ({
    tenant,
    oidc,
    signIn,
    signedIn,
    revoke,
  }) => {
    const game = await makeSpa(tenant, { name: 'Game', requireConsent: true })
    const at = { browser: signedIn.browser, scope: 'openid email' }
    await signIn(signedIn.email, { client: game, ...at })
    const path = oidc.authorizePath({ scope: 'openid email', state: null }, game)
    const { location } = await signedIn.browser.open(path)
    const { code = '' } = answerIn(location)
    expect(code).not.toBe('')
    await revoke(signedIn, game.id)
    expect(await oidc.exchange(code, {}, { id: game.id, secret: '' })).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant' },
    })
  })

  test('include that of the calling client, which is revoked with its token', async ({
    portal,
    signedIn,
    revoke,
    statusOf,
  }) => {
    expect(await revoke(signedIn, portal.id)).toMatchObject({ revokedClientId: portal.id })
    expect(await statusOf(signedIn)).toBe(401)
  })

  test('do not include a consent of another user or of a client without one', async ({
    tenant,
    signIn,
    newSignedIn,
    signedIn,
    listConsents,
    revoke,
  }) => {
    const other = await newSignedIn()
    const game = await makeSpa(tenant, { name: 'Game', requireConsent: true })
    await signIn(other.email, { client: game, scope: 'openid', browser: other.browser })
    for (const clientId of [game.id, 'client_01m7xeb1sbendby702xerkqv3p'])
      expect(await revoke(signedIn, clientId)).toMatchObject({ __typename: 'NotFoundError' })
    for (const clientId of [signedIn.userId, 'nonsense', '\u0000'])
      expect(await revoke(signedIn, clientId)).toMatchObject({ code: 'BAD_USER_INPUT' })
    expect((await listConsents(other)).totalSize).toBe(2)
  })
})
