import { describe, expect } from 'vitest'
import { updateClient } from '../../src/clients/client-changes.ts'
import { revokeUserConsent } from '../../src/consents/consents.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { setUserRoles } from '../../src/users/roles.ts'
import { newTenant } from '../support/actors.ts'
import type { CallOptions } from '../support/calls.ts'
import { dbFor } from '../support/database.ts'
import { test as base } from '../support/fixtures.ts'
import { PNG, toDataUrl } from '../support/images.ts'
import type { Json } from '../support/json.ts'
import { makeSpa } from '../support/people.ts'
import { makeUser } from '../support/protocol.ts'
import { countStatements } from '../support/statements.ts'

type Outcome = Json
type ConsentCalls = {
  /** The consents of a user, or the code of the error. */
  list: (userId: string, options?: CallOptions) => Promise<Outcome>
  /** `revoked`, or the code and message of the error. */
  revoke: (userId: string, clientId: string, options?: CallOptions) => Promise<Outcome>
}

const SELECTION = `page pageSize totalSize pageInfo { endCursor hasNextPage }
  nodes { clientId clientName clientLogoUrl updatedAt createdAt scopes { scope words } claims { claim words } resources }`
const SURFACES = ['REST', 'GraphQL'] as const

const test = base
  /** A client that requires the consent of every user. */
  .extend('game', { scope: 'file' }, ({ tenant }) =>
    makeSpa(tenant, { name: 'Game', logoUrl: 'https://game.example.com/logo.png', requireConsent: true }),
  )
  /** Signs a new user in at the game with consent to every scope. */
  .extend('signInPlayer', { scope: 'file' }, ({ signIn, newPerson, game }) => async () => {
    const { email } = await newPerson()
    return signIn(email, { client: game, scope: 'openid email account session offline_access' })
  })
  /** A new user with a consent for each of three clients. */
  .extend('newConsents', { scope: 'file' }, ({ tenant, newPerson }) => async () => {
    const { id: userId } = await newPerson()
    const clients = [await makeSpa(tenant), await makeSpa(tenant), await makeSpa(tenant)]
    const data = clients.map(({ id }) => ({ tenantId: tenant, userId, clientId: id, scopes: ['openid'] }))
    await dbFor(tenant).consent.createMany({ data })
    return { userId, clientIds: clients.map(({ id }) => id) }
  })
  .extend('consents', { scope: 'file' }, ({ rest, gql }) => {
    const calls: Record<(typeof SURFACES)[number], ConsentCalls> = {
      REST: {
        list: async (userId, options) => {
          const { body } = await rest('GET', `/users/${userId}/consents`, undefined, options)
          return body.consents ?? { code: body.code }
        },
        revoke: async (userId, clientId, options) => {
          const path = `/users/${userId}/consents/${clientId}`
          const { status, body } = await rest('DELETE', path, undefined, options)
          return status === 200 ? 'revoked' : { code: body.code, message: body.message }
        },
      },
      GraphQL: {
        list: async (userId, options) => {
          const query = `query ($id: ID!) { user(id: $id) { consents { ${SELECTION} } } }`
          const { body } = await gql(query, { id: userId }, options)
          if (body.errors) return { code: body.errors[0]?.extensions.code }
          return body.data.user?.consents.nodes ?? { code: 'NOT_FOUND' }
        },
        revoke: async (userId, clientId, options) => {
          const mutation = `mutation ($input: RevokeUserConsentInput!) { revokeUserConsent(input: $input) {
            ... on RevokeUserConsentPayload { revokedClientId } ... on UserError { code message } } }`
          const { body } = await gql(mutation, { input: { userId, clientId } }, options)
          if (body.errors) return { code: body.errors[0]?.extensions.code, message: body.errors[0]?.message }
          const { revokedClientId, ...error } = body.data.revokeUserConsent
          return revokedClientId === clientId ? 'revoked' : error
        },
      },
    }
    return calls
  })

const UNKNOWN = '01m7xeb1sbendby702xerkqv3p'

describe.each(SURFACES)('the consents of a user over %s', (surface) => {
  test('are returned with the client, the scopes and the individually requested claims', async ({
    tenant,
    newPerson,
    game,
    signInPlayer,
    consents,
  }) => {
    const { userId } = await signInPlayer()
    const where = { tenantId_userId_clientId: { tenantId: tenant, userId, clientId: game.id } }
    await dbFor(tenant).consent.update({
      where,
      data: { claims: ['birthdate'], resources: ['https://api.game.example.com'] },
    })
    expect(await consents[surface].list(userId)).toEqual([
      {
        clientId: game.id,
        clientName: 'Game',
        clientLogoUrl: 'https://game.example.com/logo.png',
        scopes: expect.arrayContaining([
          { scope: 'email', words: 'See your email address' },
          { scope: 'offline_access', words: 'Keep this access when you are not using it' },
        ]),
        claims: [{ claim: 'birthdate', words: expect.stringMatching(/^See your .*birth/) }],
        resources: ['https://api.game.example.com'],
        updatedAt: expect.stringMatching(/Z$/),
        createdAt: expect.stringMatching(/Z$/),
      },
    ])
    expect(await consents[surface].list((await newPerson()).id)).toEqual([])
    const logoUrl = toDataUrl('png', PNG)
    await updateClient(createPlatformCtx(tenant), game.id, { logoUrl })
    const logo = new RegExp(`^http://localhost:3000/${tenant}/brand/clients/${game.id}\\?v=[0-9a-f]{16}$`)
    expect(await consents[surface].list(userId)).toMatchObject([
      { clientLogoUrl: expect.stringMatching(logo) },
    ])
    await updateClient(createPlatformCtx(tenant), game.id, { logoUrl: 'https://game.example.com/logo.png' })
  })

  test('are revoked with the tokens, grants and sessions of the client, and the events name the caller', async ({
    tenant,
    gql,
    events,
    oidc,
    game,
    signInPlayer,
    consents,
  }) => {
    const player = await signInPlayer()
    const { userId } = player
    const bystander = await signInPlayer()
    expect(await consents[surface].revoke(userId, game.id)).toBe('revoked')
    expect((await gql('{ viewer { scopes } }', {}, { token: player.token })).status).toBe(401)
    const refreshed = await oidc.refresh(player.answer.refresh_token ?? '', {}, game)
    expect(refreshed.body.error).toBe('invalid_grant')
    const where = { tenantId: tenant, userId, clientId: game.id }
    expect(await dbFor(tenant).session.count({ where: { ...where, endedAt: null } })).toBe(0)
    expect(await consents[surface].list(userId)).toEqual([])
    expect(await consents[surface].list(bystander.userId)).toHaveLength(1)
    expect((await gql('{ viewer { scopes } }', {}, { token: bystander.token })).status).toBe(200)

    const recorded = (await events({ userId })).filter(({ actorUserId }) => actorUserId === null)
    expect(recorded.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['consent.revoked', 'session.ended', 'grant.revoked']),
    )
    expect(recorded.find(({ type }) => type === 'consent.revoked')).toMatchObject({
      actorClientId: expect.stringMatching(/^client_/),
      subjectIds: [game.id],
      detail: { scope: expect.stringContaining('email') },
    })
    expect(await consents[surface].revoke(userId, game.id)).toEqual({
      code: 'NOT_FOUND',
      message: 'No such consent.',
    })
  })

  test('cannot be revoked by a caller whose scopes the roles of the user exceed', async ({
    tenant,
    game,
    signInPlayer,
    consents,
  }) => {
    const { userId } = await signInPlayer()
    await setUserRoles(createPlatformCtx(tenant), userId, { roles: ['support'] })
    const lesser: CallOptions = { scopes: ['users:read', 'users:write'] }
    expect(await consents[surface].revoke(userId, game.id, lesser)).toMatchObject({
      code: 'FORBIDDEN',
      message: expect.stringMatching(/^This needs scopes that the caller lacks: /),
    })
    expect(await consents[surface].list(userId, lesser)).toHaveLength(1)
    expect(await consents[surface].revoke(userId, game.id)).toBe('revoked')
  })

  test('require users:read to be read and users:write to be revoked', async ({
    game,
    signInPlayer,
    consents,
  }) => {
    const { userId } = await signInPlayer()
    expect(await consents[surface].list(userId, { scopes: ['users:write', 'sessions:read'] })).toMatchObject({
      code: 'FORBIDDEN',
    })
    expect(await consents[surface].revoke(userId, game.id, { scopes: ['users:read'] })).toMatchObject({
      code: 'FORBIDDEN',
      message: expect.stringContaining('users:write'),
    })
    expect(await consents[surface].list(userId)).toHaveLength(1)
  })

  test('are not found for an unknown user, a user of another tenant and another client', async ({
    game,
    signInPlayer,
    consents,
  }) => {
    const { userId } = await signInPlayer()
    const other = await newTenant()
    const foreign = await makeUser(other, 'ada@other.example')
    const theirs = await makeSpa(other)
    await dbFor(other).consent.create({
      data: { tenantId: other, userId: foreign.id, clientId: theirs.id, scopes: ['openid'] },
    })
    for (const id of [foreign.id, `user_${UNKNOWN}`])
      expect(await consents[surface].list(id)).toEqual({ code: 'NOT_FOUND' })
    for (const [user, client, what] of [
      [foreign.id, theirs.id, 'user'],
      [`user_${UNKNOWN}`, game.id, 'user'],
      [userId, theirs.id, 'consent'],
      [userId, `client_${UNKNOWN}`, 'consent'],
    ] as const)
      expect(await consents[surface].revoke(user, client)).toEqual({
        code: 'NOT_FOUND',
        message: `No such ${what}.`,
      })
    expect(await dbFor(other).consent.count({ where: { tenantId: other } })).toBe(1)
  })
})

describe('the consents of a user', () => {
  test('are paged by number and by cursor in both directions', async ({ rest, newConsents }) => {
    const { userId, clientIds } = await newConsents()
    const page = async (query: string): Promise<Json> => {
      const answer = await rest('GET', `/users/${userId}/consents?${query}`)
      return { ...answer, ids: (answer.body.consents as Json)?.map(({ clientId }: Json) => clientId) }
    }
    const first = await page('pageSize=2')
    expect(first.body).toMatchObject({ page: 0, pageSize: 2, totalSize: 3 })
    expect(first.ids).toEqual(clientIds.slice(0, 2))
    const next = /[?&](after=[^&>]*)/.exec(first.headers.get('link') ?? '')?.[1]
    expect((await page(`${next}`)).ids).toEqual(clientIds.slice(2))
    expect((await page('page=1&pageSize=2')).ids).toEqual(clientIds.slice(2))
    const previous = /[?&](before=[^&>]*)/.exec((await page(`${next}`)).headers.get('link') ?? '')?.[1]
    expect((await page(`${previous}`)).ids).toEqual(clientIds.slice(0, 2))
    const elsewhere = await newConsents()
    const { status, body } = await rest('GET', `/users/${elsewhere.userId}/consents?${next}`)
    expect([status, body.fields]).toEqual([
      400,
      [{ field: 'after', description: 'is not a cursor of this list' }],
    ])
  })

  test('are counted without being read', async ({ gql, newConsents }) => {
    const { userId } = await newConsents()
    const query =
      'query ($id: ID!) { user(id: $id) { consents(first: 1) { totalSize pageInfo { hasNextPage } } } }'
    const { body } = await gql(query, { id: userId })
    expect(body).toEqual({ data: { user: { consents: { totalSize: 3, pageInfo: { hasNextPage: true } } } } })
  })

  test('continue after the last row with any selection of its fields', async ({ gql, newConsents }) => {
    const { userId, clientIds } = await newConsents()
    const query = `query ($id: ID!, $after: String) { user(id: $id) { consents(first: 2, after: $after) {
      nodes { clientName } pageInfo { endCursor } } } }`
    const read = async (after: string | null): Promise<Json> =>
      (await gql(query, { id: userId, after })).body.data.user.consents
    const { nodes, pageInfo } = await read(null)
    expect(nodes).toHaveLength(2)
    expect((await read(pageInfo.endCursor)).nodes).toHaveLength(clientIds.length - 2)
  })

  test('are revoked once by ten concurrent callers', async ({ tenant, events, newConsents }) => {
    const { userId, clientIds } = await newConsents()
    const ctx = createPlatformCtx(tenant)
    const results = await Promise.allSettled(
      Array.from({ length: 10 }, () => revokeUserConsent(ctx, userId, clientIds[0] ?? '')),
    )
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const result of results)
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'NOT_FOUND' })
    expect(await events({ userId, type: 'consent.revoked' })).toHaveLength(1)
  })

  test('are revoked in six round trips', async ({ tenant, newConsents }) => {
    const { userId, clientIds } = await newConsents()
    expect(
      await countStatements(() => revokeUserConsent(createPlatformCtx(tenant), userId, clientIds[0] ?? '')),
    ).toBe(6)
  })
})
