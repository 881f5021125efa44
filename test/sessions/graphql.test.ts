import { describe, expect } from 'vitest'
import { newId } from '../../src/core/crypto.ts'
import { createUser } from '../../src/users/users.ts'
import { tokenFor } from '../support/actors.ts'
import { test } from '../support/session-surfaces.ts'
import { recordWarmStatements } from '../support/statements.ts'

describe('sessions over GraphQL', () => {
  const SESSION =
    'id userId clientId lastSeenAt lastSeenIp lastSeenLocation userAgent deviceId expiresAt updatedAt createdAt proofs { method amr at }'

  test('are read by id and as nodes, with their users', async ({
    rest,
    gql,

    start,
    userId,
    toBody,
  }) => {
    const { session } = await start()
    const query = `query ($id: ID!) { session(id: $id) { ${SESSION} user { id name } client { id } } node(id: $id) { id __typename } }`
    expect((await gql(query, { id: session.id })).body).toEqual({
      data: {
        session: { ...toBody(session.id), user: { id: userId, name: 'Ada' }, client: null },
        node: { id: session.id, __typename: 'Session' },
      },
    })
    await rest('DELETE', `/sessions/${session.id}`)
    expect((await gql(query, { id: session.id })).body).toEqual({ data: { session: null, node: null } })
    expect((await gql(query, { id: userId })).body.errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT')
  })

  test('of a user are listed in pages by cursor', async ({ gql, start, userId }) => {
    const ids: string[] = []
    for (let i = 0; i < 3; i++) ids.push((await start()).session.id)
    const query = `query ($id: ID!, $after: String) { user(id: $id) {
      sessions(first: 2, after: $after) { nodes { id userAgent } edges { node { id } cursor } totalSize pageInfo { hasNextPage endCursor } } } }`
    const first = (await gql(query, { id: userId })).body.data.user.sessions
    expect(first).toMatchObject({
      nodes: ids.slice(0, 2).map((id) => ({ id, userAgent: 'Phone' })),
      edges: ids.slice(0, 2).map((id) => ({ node: { id } })),
      totalSize: 3,
      pageInfo: { hasNextPage: true, endCursor: expect.any(String) },
    })
    const second = await gql(query, { id: userId, after: first.pageInfo.endCursor })
    expect(second.body.data.user.sessions.nodes).toEqual([{ id: ids[2], userAgent: 'Phone' }])
  })

  test('of 50 users are read in one statement that limits each list', async ({
    ctx,
    gql,

    start,
  }) => {
    for (let i = 0; i < 50; i++) await start((await createUser(ctx, {})).id)
    let nodes: { sessions: { nodes: object[] } }[] = []
    const query =
      '{ users(pageSize: 50) { nodes { id sessions(first: 5) { nodes { id userAgent lastSeenAt } } } } }'
    const statements = await recordWarmStatements(
      () => gql('{ viewer { scopes } }'),
      async () => {
        nodes = (await gql(query)).body.data.users.nodes
      },
    )
    expect(nodes).toHaveLength(50)
    expect(nodes.filter(({ sessions }) => sessions.nodes.length === 1)).toHaveLength(49)
    const reads = statements.filter((text) => text.includes('"Session"'))
    expect(reads).toHaveLength(1)
    expect(statements).toHaveLength(1)
    expect(reads[0]).toMatch(/LATERAL/)
    expect(reads[0]?.match(/LIMIT/g)).toHaveLength(2)
  })

  test('authenticate a session token and return errors as data', async ({ gql, start }) => {
    const { session, token: sessionToken } = await start()
    const query = `mutation ($input: AuthenticateSessionInput!) { authenticateSession(input: $input) { __typename
      ... on AuthenticateSessionPayload { session { id } sessionToken user { name } }
      ... on UserError { code message } ... on ValidationError { fields { field } } } }`
    const authenticate = async (input: object) => (await gql(query, { input })).body.data.authenticateSession
    expect(await authenticate({ sessionToken, sessionExpirationMinutes: 9 })).toEqual({
      __typename: 'AuthenticateSessionPayload',
      session: { id: session.id },
      sessionToken: null,
      user: { name: 'Ada' },
    })
    expect(await authenticate({ sessionToken: 'x' })).toEqual({
      __typename: 'AuthenticationError',
      code: 'INVALID_CREDENTIAL',
      message: 'The session token is not valid.',
    })
    expect(await authenticate({ sessionToken: '', metadata: { ipAddress: '1' } })).toMatchObject({
      __typename: 'ValidationError',
      fields: [{ field: 'sessionToken' }, { field: 'metadata.ipAddress' }],
    })
  })

  test('are revoked by id and by user', async ({ gql, start, userId }) => {
    const [one, two] = [(await start()).session.id, (await start()).session.id]
    const revoke = `mutation ($id: ID!) { revokeSession(input: { sessionId: $id }) { __typename ... on RevokeSessionPayload { revokedSessionId } } }`
    expect((await gql(revoke, { id: one })).body.data.revokeSession).toEqual({
      __typename: 'RevokeSessionPayload',
      revokedSessionId: one,
    })
    expect((await gql(revoke, { id: one })).body.data.revokeSession).toEqual({ __typename: 'NotFoundError' })
    expect((await gql(revoke, { id: 'nonsense' })).body.data.revokeSession).toEqual({
      __typename: 'ValidationError',
    })
    const all = `mutation ($id: ID!) { revokeUserSessions(input: { userId: $id }) { __typename ... on RevokeUserSessionsPayload { revokedSessionIds } } }`
    expect((await gql(all, { id: userId })).body.data.revokeUserSessions).toEqual({
      __typename: 'RevokeUserSessionsPayload',
      revokedSessionIds: [two],
    })
    expect((await gql(all, { id: newId('user') })).body.data.revokeUserSessions).toEqual({
      __typename: 'NotFoundError',
    })
  })

  test('are null for callers without sessions:read, and their users for callers without users:read', async ({
    ctx,
    gql,
    start,
    userId,
  }) => {
    await start()
    const users = await tokenFor(ctx.tenant, ['users:read'])
    const query = '{ users { nodes { id sessions { nodes { id } } } } }'
    const hidden = (await gql(query, {}, { token: users })).body
    expect(hidden.data.users.nodes).toEqual([{ id: userId, sessions: null }])
    expect(hidden.errors?.[0]).toMatchObject({
      message: 'Requires scope sessions:read.',
      extensions: { code: 'FORBIDDEN' },
    })
    const { session } = await start()
    const sessions = await tokenFor(ctx.tenant, ['sessions:read'])
    const foreign = (
      await gql(
        'query ($id: ID!) { session(id: $id) { id user { id } } }',
        { id: session.id },
        { token: sessions },
      )
    ).body
    expect(foreign.data).toEqual({ session: { id: session.id, user: null } })
  })
})
