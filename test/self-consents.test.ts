import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dbFor } from '../src/db.ts'
import { makeUser, refreshWith } from './oidc/provider.ts'
import { newTenant, tokenFor } from './support/actors.ts'
import { startApp, type TestApp } from './support/app.ts'
import { doneBy, makeSpa, type PersonClient, type SignedIn, signInAs } from './support/people.ts'
import { recordStatements } from './support/statements.ts'

let app: TestApp
let tenant: string
/** Where people see to their accounts. */
let portal: PersonClient
let people = 0
beforeAll(async () => {
  app = await startApp()
  tenant = await newTenant()
  portal = await makeSpa(tenant, { name: 'Portal' })
})
afterAll(() => app.close())

async function newPerson(): Promise<SignedIn & { email: string }> {
  const email = `person${people++}@${tenant}.example`
  await makeUser(tenant, email)
  return { email, ...(await signInAs(app, tenant, portal, email, { scope: 'openid account' })) }
}

const LIST = `query ($first: Int, $after: String) { viewer { user { consents(first: $first, after: $after) {
  totalSize pageInfo { endCursor hasNextPage }
  nodes { clientId clientName clientLogoUrl createdAt scopes { scope words } }
} } } }`
const consentsOf = async ({ token }: { token: string }, variables: object = {}) =>
  (await app.gql(tenant, token, LIST, variables)).body.data.viewer.user.consents
const revoke = async ({ token }: { token: string }, clientId: string) => {
  const { body } = await app.gql(
    tenant,
    token,
    `mutation ($clientId: ID!) { revokeViewerConsent(input: {clientId: $clientId}) {
       __typename ... on RevokeViewerConsentPayload { revokedClientId } ... on UserError { code }
     } }`,
    { clientId },
  )
  return body.data?.revokeViewerConsent
}
const statusOf = async ({ token }: SignedIn) => (await app.gql(tenant, token, '{ viewer { scopes } }')).status

describe('consents', () => {
  test('are listed with the client and what was agreed to, in words, page by page', async () => {
    const person = await newPerson()
    const logoUrl = 'https://game.example.com/logo.png'
    const game = await makeSpa(tenant, { name: 'Game', logoUrl, requireConsent: true })
    await signInAs(app, tenant, game, person.email, { scope: 'openid email', browser: person.browser })
    const all = await consentsOf(person)
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
    const first = await consentsOf(person, { first: 1 })
    expect([first.nodes[0].clientId, first.pageInfo.hasNextPage]).toEqual([portal.id, true])
    const second = await consentsOf(person, { first: 1, after: first.pageInfo.endCursor })
    expect([second.nodes[0].clientId, second.pageInfo.hasNextPage]).toEqual([game.id, false])
  })

  test('of many people are part of one statement, for administrators', async () => {
    for (let i = 0; i < 3; i++) await newPerson()
    const token = await tokenFor(tenant)
    const query = '{ users { nodes { id consents(first: 5) { nodes { clientName } } } } }'
    const run = async () => {
      const { body } = await app.gql(tenant, token, query)
      expect(body.data.users.nodes.at(-1).consents.nodes).toEqual([{ clientName: 'Portal' }])
    }
    await run()
    // A cache that ran out meanwhile reads something else.
    const statements = (await recordStatements(run)).filter((text) => /"(User|Consent)"/.test(text))
    expect(statements).toHaveLength(1)
    const blind = await app.gql(
      tenant,
      await tokenFor(tenant, ['sessions:read']),
      '{ viewer { client { id } } users { nodes { id } } }',
    )
    expect(blind.body.data.users).toBeNull()
  })

  test('taken back end what the client had: tokens, refresh tokens, the session handed to it, codes', async () => {
    const person = await newPerson()
    const game = await makeSpa(tenant, { name: 'Game', requireConsent: true })
    const at = { browser: person.browser, scope: 'openid email session offline_access' }
    const played = await signInAs(app, tenant, game, person.email, at)
    const other = await makeSpa(tenant, { name: 'Other', requireConsent: true })
    const untouched = await signInAs(app, tenant, other, person.email, at)
    const where = { tenantId: tenant, userId: person.userId, clientId: game.id }
    expect(await dbFor(tenant).session.count({ where: { ...where, endedAt: null } })).toBe(1)

    expect(await revoke(person, game.id)).toEqual({
      __typename: 'RevokeViewerConsentPayload',
      revokedClientId: game.id,
    })
    expect(await statusOf(played)).toBe(401)
    const refreshed = await refreshWith(app as never, tenant, game, played.answer.refresh_token ?? '')
    expect(refreshed.body.error).toBe('invalid_grant')
    expect(await dbFor(tenant).session.count({ where: { ...where, endedAt: null } })).toBe(0)
    expect((await consentsOf(person)).nodes.map(({ clientId }: { clientId: string }) => clientId)).toEqual([
      portal.id,
      other.id,
    ])
    expect([await statusOf(person), await statusOf(untouched)]).toEqual([200, 200])

    const own = (await doneBy(tenant, person)).filter(({ actorClientId }) => actorClientId === portal.id)
    expect(own.map(({ type }) => type)).toEqual(['consent.revoked', 'session.ended', 'grant.revoked'])
    expect(own[0]).toMatchObject({ userId: person.userId, subjectIds: [game.id] })
    expect(await revoke(person, game.id)).toMatchObject({ code: 'NOT_FOUND' })

    // The next sign-in there asks anew.
    const page = await person.browser.open(
      `/${tenant}/oidc/authorize?${new URLSearchParams({
        response_type: 'code',
        client_id: game.id,
        redirect_uri: game.callbacks[0] ?? '',
        scope: 'openid email',
        code_challenge: 'a'.repeat(43),
        code_challenge_method: 'S256',
      })}`,
    )
    expect(page.path).toMatch(/\/consent$/)
  })

  test('end a code that is on its way', async () => {
    const person = await newPerson()
    const game = await makeSpa(tenant, { name: 'Game', requireConsent: true })
    const at = { browser: person.browser, scope: 'openid email' }
    await signInAs(app, tenant, game, person.email, at)
    const path = `/${tenant}/oidc/authorize?${new URLSearchParams({
      response_type: 'code',
      client_id: game.id,
      redirect_uri: game.callbacks[0] ?? '',
      scope: 'openid email',
      code_challenge: 'a'.repeat(43),
      code_challenge_method: 'S256',
    })}`
    const { location } = await person.browser.open(path)
    expect(location).toContain('code=')
    const where = { tenantId: tenant, userId: person.userId, clientId: game.id, usedAt: null }
    expect(await dbFor(tenant).authorizationCode.count({ where })).toBe(1)
    await revoke(person, game.id)
    expect(await dbFor(tenant).authorizationCode.count({ where })).toBe(0)
  })

  test('of the client that calls end its own token too', async () => {
    const person = await newPerson()
    expect(await revoke(person, portal.id)).toMatchObject({ revokedClientId: portal.id })
    expect(await statusOf(person)).toBe(401)
  })

  test('of somebody else, or of a client that got none, are not there', async () => {
    const [person, other] = [await newPerson(), await newPerson()]
    const game = await makeSpa(tenant, { name: 'Game', requireConsent: true })
    await signInAs(app, tenant, game, other.email, { scope: 'openid', browser: other.browser })
    for (const clientId of [game.id, 'client_01m7xeb1sbendby702xerkqv3p'])
      expect(await revoke(person, clientId)).toMatchObject({ __typename: 'NotFoundError' })
    for (const clientId of [person.userId, 'nonsense', '\u0000'])
      expect(await revoke(person, clientId)).toMatchObject({ code: 'BAD_USER_INPUT' })
    expect((await consentsOf(other)).totalSize).toBe(2)
  })
})
