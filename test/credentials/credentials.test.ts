import { describe, expect } from 'vitest'
import { newId } from '../../src/core/crypto.ts'
import { createUser } from '../../src/users/users.ts'
import { ctxFor, newTenant } from '../support/actors.ts'
import { plantCredential, test } from '../support/credentials.ts'
import { dbFor } from '../support/database.ts'
import type { Json } from '../support/json.ts'
import { walk } from '../support/lists.ts'
import { leastStatements } from '../support/statements.ts'

const FIELDS =
  'id type name publicKey lastUsedAt createdAt device { hash swVersion mobile platform architecture bitness model platformVersion uaBrand uaVersion lastSeenIp lastSeenAt }'

describe('GET /credentials/{credentialId} and Query.credential', () => {
  test('return the same fields over REST and GraphQL', async ({ rest, gql, userId, plant }) => {
    const id = await plant()
    const { body, status } = await rest('GET', `/credentials/${id}`)
    expect(status).toBe(200)
    expect(body).toEqual({
      id,
      type: 'public-key',
      name: null,
      publicKey: 'pQECAyYgASFYIA',
      lastUsedAt: null,
      createdAt: expect.any(String),
      device: {
        hash: 'h',
        swVersion: null,
        mobile: false,
        platform: 'Linux',
        architecture: 'x86',
        bitness: '64',
        model: null,
        platformVersion: '6.1',
        uaBrand: 'Chromium',
        uaVersion: '142.0',
        lastSeenIp: '192.0.2.1',
        lastSeenAt: '2026-11-01T00:00:00.000Z',
      },
    })
    expect(Object.keys(body)).toEqual([
      'id',
      'type',
      'name',
      'publicKey',
      'lastUsedAt',
      'createdAt',
      'device',
    ])
    expect(Object.keys(body.device)).toEqual(
      'hash swVersion mobile platform architecture bitness model platformVersion uaBrand uaVersion lastSeenIp lastSeenAt'.split(
        ' ',
      ),
    )
    const answer = await gql(
      `query ($id: ID!) { credential(id: $id) { ${FIELDS} userId user { name } } node(id: $id) { __typename id } }`,
      { id },
    )
    expect(answer.body).toEqual({
      data: {
        credential: { ...body, type: 'PUBLIC_KEY', userId, user: { name: 'Ada' } },
        node: { __typename: 'Credential', id },
      },
    })
  })

  const names: [string | null, string | null][] = [
    ['ea9b8d66-4d01-1d21-3ce4-b6b48cb575d4', 'Google Password Manager'],
    ['bada5566-a7aa-401f-bd96-45619a55120d', '1Password'],
    ['00000000-0000-0000-0000-000000000000', null],
    ['ffffffff-ffff-ffff-ffff-ffffffffffff', null],
    ['constructor', null],
    [null, null],
  ]
  test.for(names)(
    'return for the AAGUID %j the name %j',
    async ([aaguid, name], { tenant, rest, gql, plant }) => {
      const id = await plant()
      await dbFor(tenant).credential.update({
        where: { tenantId_id: { tenantId: tenant, id } },
        data: { aaguid },
      })
      expect((await rest('GET', `/credentials/${id}`)).body.name).toBe(name)
      const answer = await gql('query ($id: ID!) { credential(id: $id) { name } }', { id })
      expect(answer.body).toEqual({ data: { credential: { name } } })
    },
  )

  test('return null for an unknown device', async ({ rest, gql, userId, plant }) => {
    const id = await plant(userId, {})
    expect((await rest('GET', `/credentials/${id}`)).body.device).toBeNull()
    expect(
      (await gql(`{ credential(id: "${id}") { device { hash } } }`)).body.data.credential.device,
    ).toBeNull()
  })

  test('find no credential for an unknown id, an id of another type or one of another tenant', async ({
    rest,
    gql,
    userId,
  }) => {
    const elsewhere = await newTenant()
    const other = await createUser(await ctxFor(elsewhere), {})
    const foreign = await plantCredential(elsewhere, other.id)
    for (const id of [newId('cred'), userId, 'x', foreign]) {
      for (const method of ['GET', 'DELETE'])
        expect(await rest(method, `/credentials/${id}`)).toMatchObject({
          status: 404,
          body: { code: 'NOT_FOUND' },
        })
      const { data, errors } = (await gql(`{ credential(id: "${id}") { id } }`)).body
      expect(data).toEqual({ credential: null })
      expect(errors?.[0]?.extensions.code).toBe(id.startsWith('cred_') ? undefined : 'BAD_USER_INPUT')
    }
    expect(await dbFor(elsewhere).credential.count({ where: { tenantId: elsewhere } })).toBe(1)
  })
})

describe('the credentials of a user', () => {
  test('are listed by page and by cursor, the same over REST and GraphQL', async ({
    app,
    tenant,
    token,
    ctx,
    rest,
    gql,
    userId,
    plant,
  }) => {
    const ids = [await plant(), await plant(), await plant()]
    await plant((await createUser(ctx, {})).id)
    const first = await rest('GET', `/users/${userId}/credentials?pageSize=2`)
    expect(first).toMatchObject({ status: 200, body: { page: 0, pageSize: 2, totalSize: 3 } })
    expect(Object.keys(first.body)).toEqual(['page', 'pageSize', 'totalSize', 'endsEarly', 'credentials'])
    const second = await rest('GET', `/users/${userId}/credentials?pageSize=2&page=1`)
    const listed = [...first.body.credentials, ...second.body.credentials]
    expect(listed.map(({ id }: Json) => id)).toEqual(ids)
    const walked = await walk(
      app,
      tenant,
      token,
      `/users/${userId}/credentials?pageSize=2`,
      'credentials',
      'next',
    )
    expect(walked.flat()).toEqual(listed)

    const NESTED = `query ($id: ID!, $after: String) { user(id: $id) { credentials(first: 2, after: $after) {
      totalSize nodes { ${FIELDS} } pageInfo { hasNextPage endCursor } } } }`
    const { credentials: one } = (await gql(NESTED, { id: userId })).body.data.user
    expect(one).toMatchObject({ totalSize: 3, pageInfo: { hasNextPage: true } })
    const { credentials: two } = (await gql(NESTED, { id: userId, after: one.pageInfo.endCursor })).body.data
      .user
    expect(two.pageInfo.hasNextPage).toBe(false)
    expect([...one.nodes, ...two.nodes]).toEqual(
      listed.map((credential: object) => ({ ...credential, type: 'PUBLIC_KEY' })),
    )
  })

  test('are 404 for an unknown user and 400 for a page size out of range', async ({ rest, userId }) => {
    expect((await rest('GET', `/users/${newId('user')}/credentials`)).status).toBe(404)
    expect(await rest('GET', `/users/${userId}/credentials?pageSize=1001`)).toMatchObject({
      status: 400,
      body: { fields: [{ field: 'pageSize' }] },
    })
  })

  test('need one statement, one more for the total, and none more in a page of users', async ({
    ctx,
    rest,
    gql,
    userId,
    plant,
  }) => {
    for (let i = 0; i < 49; i++) await plant((await createUser(ctx, {})).id)
    await plant()
    const path = `/users/${userId}/credentials`
    const nested = `{ users(first: 50) { nodes { id credentials(first: 5) { nodes { ${FIELDS} } } } } }`
    expect(await leastStatements(() => rest('GET', path))).toBe(2) // REST always returns the total
    const { users } = (await gql(nested)).body.data
    expect(users.nodes).toHaveLength(50)
    expect(
      users.nodes.every((user: { credentials: { nodes: object[] } }) => user.credentials.nodes.length === 1),
    ).toBe(true)
    expect(await leastStatements(() => gql(nested))).toBe(1)
    expect(
      await leastStatements(() => gql(`{ user(id: "${userId}") { credentials { nodes { id } } } }`)),
    ).toBe(1)
    expect(await leastStatements(() => gql(`{ user(id: "${userId}") { credentials { totalSize } } }`))).toBe(
      2,
    )
  })
})
