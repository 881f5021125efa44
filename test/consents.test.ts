import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { revokeUserConsent } from '../src/consents/consents.ts'
import { platformCtx } from '../src/ctx.ts'
import { dbFor } from '../src/db.ts'
import { setUserRoles } from '../src/users/roles.ts'
import { makeUser, refreshWith } from './oidc/provider.ts'
import { newTenant, tokenFor } from './support/actors.ts'
import { startApp, type TestApp } from './support/app.ts'
import { logOf } from './support/events.ts'
import { makeSpa, type PersonClient, type SignedIn, signInAs } from './support/people.ts'
import { countStatements } from './support/statements.ts'

// Consents of people as administrators see them. What people see of their own is in self-consents.test.ts.

let app: TestApp
let tenant: string
let token: string
let game: PersonClient
let people = 0
beforeAll(async () => {
  app = await startApp()
  tenant = await newTenant()
  token = await tokenFor(tenant)
  game = await makeSpa(tenant, {
    name: 'Game',
    logoUrl: 'https://game.example.com/logo.png',
    requireConsent: true,
  })
})
afterAll(() => app.close())

// biome-ignore lint/suspicious/noExplicitAny: what a test asks for decides the shape
type Any = any
const NOBODY = '01m7xeb1sbendby702xerkqv3p'

/** Somebody who let the game have everything. */
async function newPlayer(): Promise<SignedIn & { email: string }> {
  const email = `player${people++}@${tenant}.example`
  await makeUser(tenant, email)
  const scope = 'openid email session offline_access'
  return { email, ...(await signInAs(app, tenant, game, email, { scope })) }
}

const SELECTION = `page pageSize totalSize pageInfo { endCursor hasNextPage }
  nodes { clientId clientName clientLogoUrl updatedAt createdAt scopes { scope words } claims { claim words } }`

const surfaces = [
  {
    surface: 'REST',
    list: async (userId: string, as = token): Promise<Any> => {
      const { body } = await app.rest(tenant, as, 'GET', `/users/${userId}/consents`)
      return body.consents ?? { code: body.code }
    },
    revoke: async (userId: string, clientId: string, as = token): Promise<Any> => {
      const { status, body } = await app.rest(tenant, as, 'DELETE', `/users/${userId}/consents/${clientId}`)
      return status === 200 ? 'revoked' : { code: body.code, message: body.message }
    },
  },
  {
    surface: 'GraphQL',
    list: async (userId: string, as = token): Promise<Any> => {
      const query = `query ($id: ID!) { user(id: $id) { consents { ${SELECTION} } } }`
      const { body } = await app.gql(tenant, as, query, { id: userId })
      if (body.errors) return { code: body.errors[0]?.extensions.code }
      return body.data.user?.consents.nodes ?? { code: 'NOT_FOUND' }
    },
    revoke: async (userId: string, clientId: string, as = token): Promise<Any> => {
      const mutation = `mutation ($input: RevokeUserConsentInput!) { revokeUserConsent(input: $input) {
        ... on RevokeUserConsentPayload { revokedClientId } ... on UserError { code message } } }`
      const { body } = await app.gql(tenant, as, mutation, { input: { userId, clientId } })
      if (body.errors) return { code: body.errors[0]?.extensions.code, message: body.errors[0]?.message }
      const { revokedClientId, ...error } = body.data.revokeUserConsent
      return revokedClientId === clientId ? 'revoked' : error
    },
  },
]

describe.each(surfaces)('consents of a user over $surface', ({ list, revoke }) => {
  test('are listed with the client and what the person was asked, claims asked one by one too', async () => {
    const { userId } = await newPlayer()
    const where = { tenantId_userId_clientId: { tenantId: tenant, userId, clientId: game.id } }
    await dbFor(tenant).consent.update({ where, data: { claims: ['birthdate'] } })
    expect(await list(userId)).toEqual([
      {
        clientId: game.id,
        clientName: 'Game',
        clientLogoUrl: 'https://game.example.com/logo.png',
        scopes: expect.arrayContaining([
          { scope: 'email', words: 'See your email address' },
          { scope: 'offline_access', words: 'Keep this access when you are not using it' },
        ]),
        claims: [{ claim: 'birthdate', words: expect.stringMatching(/^See your .*birth/) }],
        updatedAt: expect.stringMatching(/Z$/),
        createdAt: expect.stringMatching(/Z$/),
      },
    ])
    expect(await list((await makeUser(tenant, `nobody${people++}@${tenant}.example`)).id)).toEqual([])
  })

  test('taken back end what the client had, for good, and the log says who did it', async () => {
    const player = await newPlayer()
    const { userId } = player
    const bystander = await newPlayer()
    expect(await revoke(userId, game.id)).toBe('revoked')
    expect((await app.gql(tenant, player.token, '{ viewer { scopes } }')).status).toBe(401)
    const refreshed = await refreshWith(app as never, tenant, game, player.answer.refresh_token ?? '')
    expect(refreshed.body.error).toBe('invalid_grant')
    const where = { tenantId: tenant, userId, clientId: game.id }
    expect(await dbFor(tenant).session.count({ where: { ...where, endedAt: null } })).toBe(0)
    expect(await list(userId)).toEqual([])
    expect(await list(bystander.userId)).toHaveLength(1)
    expect((await app.gql(tenant, bystander.token, '{ viewer { scopes } }')).status).toBe(200)

    const told = (await logOf(tenant)).filter(
      (event) => event.userId === userId && event.actorUserId === null,
    )
    expect(told.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['consent.revoked', 'session.ended', 'grant.revoked']),
    )
    expect(told.find(({ type }) => type === 'consent.revoked')).toMatchObject({
      actorClientId: expect.stringMatching(/^client_/),
      subjectIds: [game.id],
      detail: { scope: expect.stringContaining('email') },
    })
    expect(await revoke(userId, game.id)).toEqual({ code: 'NOT_FOUND', message: 'No such consent.' })
  })

  test('of users whose roles permit more are for callers who may as much', async () => {
    const { userId } = await newPlayer()
    await setUserRoles(platformCtx(tenant), userId, { roles: ['support'] })
    const lesser = await tokenFor(tenant, ['users:read', 'users:write'])
    expect(await revoke(userId, game.id, lesser)).toMatchObject({
      code: 'FORBIDDEN',
      message: expect.stringMatching(/^This needs scopes that the caller lacks: /),
    })
    expect(await list(userId, lesser)).toHaveLength(1)
    expect(await revoke(userId, game.id)).toBe('revoked')
  })

  test('need users:read to be seen, and users:write to be taken back', async () => {
    const { userId } = await newPlayer()
    expect(await list(userId, await tokenFor(tenant, ['users:write', 'sessions:read']))).toMatchObject({
      code: 'FORBIDDEN',
    })
    expect(await revoke(userId, game.id, await tokenFor(tenant, ['users:read']))).toMatchObject({
      code: 'FORBIDDEN',
      message: expect.stringContaining('users:write'),
    })
    expect(await list(userId)).toHaveLength(1)
  })

  test('of nobody, of another tenant and of another client are not there', async () => {
    const { userId } = await newPlayer()
    const other = await newTenant()
    const foreign = await makeUser(other, 'ada@other.example')
    const theirs = await makeSpa(other)
    await dbFor(other).consent.create({
      data: { tenantId: other, userId: foreign.id, clientId: theirs.id, scopes: ['openid'] },
    })
    for (const id of [foreign.id, `user_${NOBODY}`]) expect(await list(id)).toEqual({ code: 'NOT_FOUND' })
    for (const [user, client, what] of [
      [foreign.id, theirs.id, 'user'],
      [`user_${NOBODY}`, game.id, 'user'],
      [userId, theirs.id, 'consent'],
      [userId, `client_${NOBODY}`, 'consent'],
    ] as const)
      expect(await revoke(user, client)).toEqual({ code: 'NOT_FOUND', message: `No such ${what}.` })
    expect(await dbFor(other).consent.count({ where: { tenantId: other } })).toBe(1)
  })
})

describe('consents of a user', () => {
  /** A person who agreed to something for each of three clients. */
  async function agreeable() {
    const { id: userId } = await makeUser(tenant, `agreeable${people++}@${tenant}.example`)
    const clients = [await makeSpa(tenant), await makeSpa(tenant), await makeSpa(tenant)]
    const data = clients.map(({ id }) => ({ tenantId: tenant, userId, clientId: id, scopes: ['openid'] }))
    await dbFor(tenant).consent.createMany({ data })
    return { userId, clientIds: clients.map(({ id }) => id) }
  }

  test('are paged by number and by cursor, forwards and backwards', async () => {
    const { userId, clientIds } = await agreeable()
    const page = async (query: string): Promise<Any> => {
      const answer = await app.rest(tenant, token, 'GET', `/users/${userId}/consents?${query}`)
      return { ...answer, ids: (answer.body.consents as Any)?.map(({ clientId }: Any) => clientId) }
    }
    const first = await page('pageSize=2')
    expect(first.body).toMatchObject({ page: 0, pageSize: 2, totalSize: 3 })
    expect(first.ids).toEqual(clientIds.slice(0, 2))
    const next = /[?&](after=[^&>]*)/.exec(first.headers.get('link') ?? '')?.[1]
    expect((await page(`${next}`)).ids).toEqual(clientIds.slice(2))
    expect((await page('page=1&pageSize=2')).ids).toEqual(clientIds.slice(2))
    const previous = /[?&](before=[^&>]*)/.exec((await page(`${next}`)).headers.get('link') ?? '')?.[1]
    expect((await page(`${previous}`)).ids).toEqual(clientIds.slice(0, 2))
    const elsewhere = await agreeable()
    const { status, body } = await app.rest(
      tenant,
      token,
      'GET',
      `/users/${elsewhere.userId}/consents?${next}`,
    )
    expect([status, body.fields]).toEqual([
      400,
      [{ field: 'after', description: 'is not a cursor of this list' }],
    ])
  })

  test('can be counted without being read', async () => {
    const { userId } = await agreeable()
    const query =
      'query ($id: ID!) { user(id: $id) { consents(first: 1) { totalSize pageInfo { hasNextPage } } } }'
    const { body } = await app.gql(tenant, token, query, { id: userId })
    expect(body).toEqual({ data: { user: { consents: { totalSize: 3, pageInfo: { hasNextPage: true } } } } })
  })

  test('go on after the last row, whatever was selected of it', async () => {
    const { userId, clientIds } = await agreeable()
    const query = `query ($id: ID!, $after: String) { user(id: $id) { consents(first: 2, after: $after) {
      nodes { clientName } pageInfo { endCursor } } } }`
    const read = async (after: string | null): Promise<Any> =>
      (await app.gql(tenant, token, query, { id: userId, after })).body.data.user.consents
    const { nodes, pageInfo } = await read(null)
    expect(nodes).toHaveLength(2)
    expect((await read(pageInfo.endCursor)).nodes).toHaveLength(clientIds.length - 2)
  })

  test('are taken back once, whoever else tries at the same time', async () => {
    const { userId, clientIds } = await agreeable()
    const ctx = platformCtx(tenant)
    const results = await Promise.allSettled(
      Array.from({ length: 10 }, () => revokeUserConsent(ctx, userId, clientIds[0] ?? '')),
    )
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const result of results)
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'NOT_FOUND' })
    const told = (await logOf(tenant)).filter(
      (event) => event.userId === userId && event.type === 'consent.revoked',
    )
    expect(told).toHaveLength(1)
  })

  test.runIf(inject('database').kind === 'postgres')('are taken back in six round trips', async () => {
    const { userId, clientIds } = await agreeable()
    expect(
      await countStatements(() => revokeUserConsent(platformCtx(tenant), userId, clientIds[0] ?? '')),
    ).toBe(6)
  })
})
