import { describe, expect } from 'vitest'
import { SCOPE_NAMES, SYSTEM_SCOPES } from '../../src/core/scopes.ts'
import { addIdpUser, unlinkIdpUser } from '../../src/idps/idp-links.ts'
import { updateIdentityProvider } from '../../src/idps/idps.ts'
import { newTenant } from '../support/actors.ts'
import type { CallOptions } from '../support/calls.ts'
import { dbFor } from '../support/database.ts'
import type { Json } from '../support/json.ts'
import { test as base, KEEPER_SCOPES } from '../support/kept-tokens.ts'
import { answerJson } from '../support/provider-proofs.ts'
import type { SignInProvider } from '../support/provider-sign-in.ts'
import { hasServices } from '../support/services.ts'

const FIELDS = 'userId idpId accessToken scopes expiresAt'
const MUTATION = `mutation ($input: GetIdpUserTokensInput!) { result: getIdpUserTokens(input: $input) {
  ... on GetIdpUserTokensPayload { idpUserTokens { ${FIELDS} } } ... on UserError { code message }
} }`
const QUERY = `query ($userId: ID!, $idpId: ID!) { idpUserTokens(userId: $userId, idpId: $idpId) { ${FIELDS} } }`
const READER = { scopes: ['idp_tokens:read'] } as const

type Read = (userId: string, idpId: string, options?: CallOptions) => Promise<Json>

const test = base
  /** Reads the tokens by REST; returns the body, with the status of an error. */
  .extend('read', { scope: 'file' }, ({ rest }): Read => {
    return async (userId, idpId, options = READER) => {
      const { status, body } = await rest('GET', `/users/${userId}/idps/${idpId}/tokens`, undefined, options)
      return status === 200 ? body : { status, ...body }
    }
  })
  .extend('query', { scope: 'file' }, ({ gql }): Read => {
    return async (userId, idpId, options = READER) => {
      const { body } = await gql(MUTATION, { input: { userId, idpId } }, options)
      const [error] = body.errors ?? []
      if (error) return { code: error.extensions.code, message: error.message }
      const { idpUserTokens, ...result } = body.data.result
      return idpUserTokens ?? result
    }
  })
  /** Lets the access token of `person` expire. */
  .extend('expire', ({ tenant, findTokens }) => async (provider: SignInProvider) => {
    const [{ linkId } = { linkId: '' }] = await findTokens(provider)
    await dbFor(tenant).idpUserToken.update({
      where: { tenantId_linkId: { tenantId: tenant, linkId } },
      data: { expiresAt: new Date(Date.now() - 1000) },
    })
  })

const NO_TOKENS = { status: 404, code: 'NOT_FOUND' }

describe.runIf(hasServices)('getIdpUserTokens', () => {
  test('returns the access token on both surfaces, and never the refresh token', async ({
    person,
    keeper,
    enter,
    findTokens,
    read,
    query,
    gql,
  }) => {
    const issued = await enter(keeper)
    const [row] = await findTokens(keeper)
    const expected = {
      userId: person.id,
      idpId: keeper.id,
      accessToken: issued.access_token,
      scopes: row?.scopes,
      expiresAt: row?.expiresAt?.toISOString(),
    }
    expect(await read(person.id, keeper.id)).toEqual(expected)
    expect(await query(person.id, keeper.id)).toEqual(expected)
    const { body } = await gql(QUERY, { userId: person.id, idpId: keeper.id }, READER)
    expect(body.data.idpUserTokens).toEqual(expected)
  })

  test('returns a token that the provider accepts', async ({ person, subject, keeper, enter, read }) => {
    await enter(keeper)
    const { accessToken } = await read(person.id, keeper.id)
    const response = await fetch(keeper.upstream.endpoints.userInfoEndpoint, {
      headers: { authorization: `Bearer ${accessToken}` },
    })
    expect(await response.json()).toMatchObject({ sub: subject })
  })

  test('returns a token that does not expire of a provider without ID tokens', async ({
    ctx,
    person,
    gitLike,
    addLink,
    signInBy,
    read,
  }) => {
    await updateIdentityProvider(ctx, gitLike.id, { keepTokens: true })
    await addLink(person.id, gitLike.id, '583231')
    await signInBy(gitLike.id, '583231')
    expect(await read(person.id, gitLike.id)).toMatchObject({
      accessToken: expect.stringMatching(/./),
      scopes: ['read:user', 'user:email'],
      expiresAt: null,
    })
  })

  test('records who read the token, without the token', async ({ person, keeper, enter, read, events }) => {
    const issued = await enter(keeper)
    await read(person.id, keeper.id)
    const recorded = await events({ type: 'idpuser.tokens_read', userId: person.id })
    expect(recorded).toMatchObject([
      { actorClientId: expect.stringMatching(/^client_/), subjectIds: [expect.any(String), keeper.id] },
    ])
    const log = JSON.stringify(await events({ userId: person.id }))
    for (const token of [issued.access_token, issued.refresh_token]) expect(log).not.toContain(token)
  })

  test('leaves the tokens out of links and providers on both surfaces', async ({
    person,
    keeper,
    enter,
    findTokens,
    rest,
    gql,
  }) => {
    const issued = await enter(keeper)
    const [row] = await findTokens(keeper)
    const answers = [
      await rest('GET', `/users/${person.id}/idps`),
      await rest('GET', `/users/${person.id}/idps/${keeper.id}`),
      await rest('GET', `/users/${person.id}`),
      await rest('GET', `/idps/${keeper.id}`),
      await gql('query ($id: ID!) { user(id: $id) { idpUsers { nodes { metadata externalId } } } }', {
        id: person.id,
      }),
    ]
    const text = JSON.stringify(answers.map(({ body }) => body))
    expect(text).toContain(keeper.id)
    const hidden = [issued.access_token, issued.refresh_token, row?.accessToken, row?.refreshToken]
    for (const token of hidden) expect(text).not.toContain(token)
  })

  test('requires its own scope, which every other scope does not replace', async ({
    person,
    keeper,
    enter,
    read,
    query,
    events,
  }) => {
    await enter(keeper)
    const scopes = SCOPE_NAMES.filter((name) => name !== 'idp_tokens:read' && !SYSTEM_SCOPES.includes(name))
    expect(await read(person.id, keeper.id, { scopes })).toMatchObject({ status: 403, code: 'FORBIDDEN' })
    expect(await query(person.id, keeper.id, { scopes })).toMatchObject({ code: 'FORBIDDEN' })
    expect(await read(person.id, keeper.id, { token: null })).toMatchObject({ status: 401 })
    expect(await events({ type: 'idpuser.tokens_read', userId: person.id })).toEqual([])
  })

  test('finds nothing of another tenant, an unknown link, and a link without tokens', async ({
    ctx,
    person,
    newPerson,
    provider,
    keeper,
    enter,
    read,
    query,
  }) => {
    await enter(keeper)
    const other = { tenant: await newTenant(), ...READER }
    expect(await read(person.id, keeper.id, other)).toMatchObject(NO_TOKENS)
    expect(await query(person.id, keeper.id, other)).toMatchObject({ code: 'NOT_FOUND' })
    expect(await read(person.id, provider.id)).toMatchObject({ ...NO_TOKENS, message: 'No such link.' })
    const { id } = await newPerson()
    await addIdpUser(ctx, id, keeper.id, { externalId: id })
    expect(await read(id, keeper.id)).toMatchObject({
      ...NO_TOKENS,
      message: 'No such tokens. A sign-in at a provider with keepTokens stores them.',
    })
    expect(await query(id, keeper.id)).toMatchObject({ code: 'NOT_FOUND' })
  })
})

describe.runIf(hasServices)('an expired access token', () => {
  test('is refreshed at the provider, and the rotated refresh token is kept', async ({
    person,
    keeper,
    enter,
    expire,
    read,
  }) => {
    const issued = await enter(keeper)
    const seen = [issued.access_token]
    for (const _ of [1, 2, 3]) {
      await expire(keeper)
      const { accessToken, expiresAt } = await read(person.id, keeper.id)
      expect(seen).not.toContain(accessToken)
      expect(Date.parse(expiresAt)).toBeGreaterThan(Date.now() + 500_000)
      expect(keeper.upstream.issued.at(-1)?.access_token).toBe(accessToken)
      seen.push(accessToken)
    }
    const rotated = keeper.upstream.issued.slice(-4).map(({ refresh_token: token }) => token)
    expect(new Set(rotated).size).toBe(4)
  })

  test('is refreshed once by many concurrent reads', async ({
    person,
    keeper,
    enter,
    expire,
    read,
    query,
    findTokens,
  }) => {
    await enter(keeper)
    await expire(keeper)
    const before = keeper.upstream.issued.length
    const reads = Array.from({ length: 30 }, (_, index) => (index % 2 ? read : query)(person.id, keeper.id))
    const tokens = (await Promise.all(reads)).map(({ accessToken }) => accessToken)
    expect(new Set(tokens)).toEqual(new Set([keeper.upstream.issued.at(-1)?.access_token]))
    expect(keeper.upstream.issued.length - before).toBe(1)
    expect(await findTokens(keeper)).toMatchObject([{ refreshId: null, refreshUntil: null }])
  })

  test('is refreshed by the next read after one that stopped in between', async ({
    tenant,
    person,
    keeper,
    enter,
    expire,
    read,
    findTokens,
  }) => {
    await enter(keeper)
    await expire(keeper)
    const [{ linkId } = { linkId: '' }] = await findTokens(keeper)
    await dbFor(tenant).idpUserToken.update({
      where: { tenantId_linkId: { tenantId: tenant, linkId } },
      data: { refreshId: 'stopped', refreshUntil: new Date(Date.now() + 600) },
    })
    const { accessToken } = await read(person.id, keeper.id)
    expect(accessToken).toBe(keeper.upstream.issued.at(-1)?.access_token)
  })

  test('is an error without a refresh token', async ({
    ctx,
    person,
    keeper,
    enter,
    expire,
    read,
    query,
    newBrowser,
  }) => {
    await updateIdentityProvider(ctx, keeper.id, { scopes: 'openid email' })
    await enter(keeper, newBrowser())
    await updateIdentityProvider(ctx, keeper.id, { scopes: KEEPER_SCOPES })
    await expire(keeper)
    const message = 'The access token has expired. The user has to sign in at the identity provider again.'
    expect(await read(person.id, keeper.id)).toMatchObject({ status: 409, code: 'CONFLICT', message })
    expect(await query(person.id, keeper.id)).toEqual({ code: 'CONFLICT', message })
  })

  test('is deleted with an event when the provider does not accept the refresh token', async ({
    person,
    keeper,
    enter,
    expire,
    read,
    events,
    findTokens,
  }) => {
    await enter(keeper)
    await expire(keeper)
    answerJson(keeper.upstream, '/token', 400, { error: 'invalid_grant' })
    const message =
      'The identity provider refused the refresh token, and the tokens were deleted. The user has to sign in there again.'
    expect(await read(person.id, keeper.id)).toMatchObject({ status: 409, code: 'CONFLICT', message })
    expect(await findTokens(keeper)).toEqual([])
    expect(await events({ type: 'idpuser.tokens_deleted', userId: person.id })).toMatchObject([
      { detail: { reason: 'refused' }, subjectIds: [expect.any(String), keeper.id] },
    ])
    expect(await events({ type: 'idpuser.tokens_read', userId: person.id })).toEqual([])
    expect(await read(person.id, keeper.id)).toMatchObject(NO_TOKENS)
  })

  test.for([
    [503, {}, 503, 'UNAVAILABLE'],
    [200, { token_type: 'bearer' }, 503, 'UNAVAILABLE'],
    [401, { error: 'invalid_client' }, 409, 'CONFLICT'],
    [400, { error: 'a secret of the provider' }, 409, 'CONFLICT'],
  ] as const)(
    'stays refreshable after the response %d %j of the provider',
    async ([answered, answer, status, code], { person, keeper, enter, expire, read, findTokens }) => {
      await enter(keeper)
      await expire(keeper)
      const [before] = await findTokens(keeper)
      answerJson(keeper.upstream, '/token', answered, answer)
      const error = await read(person.id, keeper.id)
      expect(error).toMatchObject({ status, code })
      expect(JSON.stringify(error)).not.toContain('a secret')
      expect(await findTokens(keeper)).toEqual([before])
      keeper.upstream.before.clear()
      const { accessToken } = await read(person.id, keeper.id)
      expect(accessToken).toBe(keeper.upstream.issued.at(-1)?.access_token)
    },
  )

  test('is an error within 11 seconds when the provider is silent', async ({
    person,
    keeper,
    enter,
    expire,
    read,
  }) => {
    await enter(keeper)
    await expire(keeper)
    keeper.upstream.before.set('/token', () => true)
    const began = Date.now()
    const errors = await Promise.all([read(person.id, keeper.id), read(person.id, keeper.id)])
    expect(errors).toMatchObject([
      { status: 503, code: 'UNAVAILABLE' },
      { status: 503, code: 'UNAVAILABLE' },
    ])
    expect(Date.now() - began).toBeLessThan(15_000)
  }, 30_000)

  test.for(['switched off', 'unlinked', 'replaced by a sign-in'] as const)(
    'is not stored when the tokens are %s during the refresh',
    async (change, {
      ctx,
      person,
      subject,
      newKeeper,
      enter,
      expire,
      read,
      findTokens,
      signInBy,
      newBrowser,
    }) => {
      const keeper = await newKeeper()
      await enter(keeper)
      await expire(keeper)
      const changes = {
        'switched off': () => updateIdentityProvider(ctx, keeper.id, { keepTokens: false }),
        unlinked: () => unlinkIdpUser(ctx, person.id, keeper.id),
        'replaced by a sign-in': () => signInBy(keeper.id, subject, newBrowser()),
      }
      let isChanged = false
      keeper.upstream.before.set('/token', async () => {
        if (!isChanged) {
          isChanged = true
          await changes[change]()
        }
        return false
      })
      const answer = await read(person.id, keeper.id)
      if (change !== 'replaced by a sign-in') {
        expect(answer).toMatchObject(NO_TOKENS)
        expect(await findTokens(keeper)).toEqual([])
        return
      }
      // The token of the sign-in, which was issued before that of the refresh.
      expect(answer.accessToken).toBe(keeper.upstream.issued.at(-2)?.access_token)
      await expire(keeper)
      expect((await read(person.id, keeper.id)).accessToken).toBe(keeper.upstream.issued.at(-1)?.access_token)
    },
  )

  test('is sent to the server of the provider only: a change of it deletes the refresh token first', async ({
    ctx,
    person,
    newKeeper,
    provider,
    enter,
    expire,
    read,
  }) => {
    const keeper = await newKeeper()
    await enter(keeper)
    await expire(keeper)
    const asked = provider.upstream.asked.length
    const { client, endpoints } = provider.upstream
    await updateIdentityProvider(ctx, keeper.id, {
      tokenEndpoint: endpoints.tokenEndpoint,
      clientSecret: client.clientSecret,
    })
    expect(await read(person.id, keeper.id)).toMatchObject(NO_TOKENS)
    expect(provider.upstream.asked.slice(asked)).toEqual([])
  })
})
