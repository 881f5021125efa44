import { describe, expect } from 'vitest'
import { createUser, lockUser } from '../../src/users/users.ts'
import type { GraphqlBody } from '../support/app.ts'
import { test as base } from '../support/fixtures.ts'
import { openEventStream, openSocket } from '../support/streams.ts'

const MAXIMUM = 10_000
const LIST = `query ($n: Int) { users(first: $n) { nodes { id
  a: sessions(first: 5) { nodes { id } } b: sessions(first: 5) { nodes { id } } } } }`

/** Answers with `extensions.cost`, which `gql` leaves out. */
const test = base
  .extend(
    'post',
    { scope: 'file' },
    ({ app, tenant, token }) =>
      async (query: string, variables: object = {}) => {
        const response = await app.fetch(`/${tenant}/graphql`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
          body: JSON.stringify({ query, variables }),
        })
        return { status: response.status, body: (await response.json()) as GraphqlBody }
      },
  )
  .extend(
    'readCost',
    { scope: 'file' },
    ({ post }) =>
      async (query: string, variables?: object) =>
        (await post(query, variables)).body.extensions?.cost?.requested as number,
  )
  .extend(
    'postBySocket',
    { scope: 'file' },
    ({ app, tenant, token }) =>
      (query: string, variables: Record<string, unknown> = {}) =>
        new Promise<GraphqlBody>((resolve) => {
          const client = openSocket(`${app.origin.replace('http', 'ws')}/${tenant}/graphql`, token)
          client.subscribe(
            { query, variables },
            {
              next: (result) => resolve(result as GraphqlBody),
              error: (errors) => resolve({ errors } as unknown as GraphqlBody),
              complete: () => void client.dispose(),
            },
          )
        }),
  )

describe('extensions.cost', () => {
  test('counts the days of daily counts, and ten matches of a lookup', async ({ readCost }) => {
    const DAYS =
      'query ($from: String, $to: String) { dailyCounts(from: $from, to: $to) { day signIns { total } } }'
    expect(await readCost(DAYS)).toBe(31)
    expect(await readCost(DAYS, { from: '2025-01-01', to: '2026-02-04' })).toBe(401)
    const lookup = 'query { lookup(text: "ada@example.com") { id node { id } event { id } } }'
    expect(await readCost(lookup)).toBe(21)
  })

  test('reports the cost and the maximum; variables count, and nested lists multiply', async ({
    post,
    readCost,
  }) => {
    const { body } = await post(LIST, { n: 10 })
    expect(body.extensions).toEqual({ cost: { requested: expect.any(Number), maximum: MAXIMUM } })
    const [one, ten, hundred] = [
      await readCost(LIST, { n: 1 }),
      await readCost(LIST, { n: 10 }),
      await readCost(LIST, { n: 100 }),
    ]
    expect(ten - one).toBeGreaterThan(0)
    expect(hundred - ten).toBe(10 * (ten - one))
  })

  test('counts totalSize by what it reads', async ({ readCost }) => {
    const FILTER = 'filter: {locked: true}'
    const readTotalCost = async (list: string, parent = (inner: string) => `{ ${inner} }`) =>
      (await readCost(parent(`${list} { pageSize totalSize }`))) -
      (await readCost(parent(`${list} { pageSize }`)))
    expect(await readTotalCost('users')).toBe(10)
    expect(await readTotalCost('users(filter: {})')).toBe(10)
    expect(await readTotalCost(`users(${FILTER})`)).toBe(1000)
    expect(await readTotalCost('sessions')).toBe(1000)
    const nested = (inner: string) =>
      `{ users(first: 20) { nodes { ...Lists } } } fragment Lists on User { ${inner} }`
    expect(await readTotalCost('sessions(first: 5)', nested)).toBe(200)
  })

  test('counts the totalSize of nested lists by the default value of a variable', async ({ readCost }) => {
    const list = (first: string) =>
      `{ users(first: ${first}) { nodes { sessions(first: 5) { totalSize } } } }`
    expect(await readCost(`query ($n: Int = 50) ${list('$n')}`)).toBe(await readCost(list('50')))
  })

  test('rejects an operation with many counts before it counts anything', async ({ post }) => {
    const counts = Array.from(
      { length: 11 },
      (_, index) => `c${index}: users(filter: {locked: true}) { totalSize }`,
    )
    const { body } = await post(`{ ${counts.join(' ')} }`)
    expect(body.errors).toMatchObject([{ extensions: { code: 'QUERY_TOO_COMPLEX' } }])
    expect(body.data).toBeUndefined()
  })

  test('is part of answers with data and of those with errors, and is absent for an invalid document', async ({
    post,
  }) => {
    const rejected = await post('mutation { createTenant(input: { slug: "x" }) { __typename } }')
    expect(rejected.body).toMatchObject({ errors: [{}], extensions: { cost: { maximum: MAXIMUM } } })
    const data = await post('mutation { createUser(input: { email: "none" }) { __typename } }')
    expect(data.body.extensions.cost.requested).toBeGreaterThan(0)
    for (const query of ['{', '{ nonsense }'])
      expect((await post(query)).body).not.toHaveProperty('extensions')
  })

  test('is part of the error of an operation that exceeds the maximum', async ({ post }) => {
    const { status, body } = await post(LIST, { n: 1000 })
    const cost = { requested: expect.any(Number), maximum: MAXIMUM }
    expect(body).toEqual({
      errors: [
        {
          message: expect.stringContaining(`the maximum is ${MAXIMUM}`),
          extensions: { code: 'QUERY_TOO_COMPLEX', cost, requestId: expect.any(String) },
        },
      ],
      extensions: { cost },
    })
    expect(body.errors?.[0]?.extensions.cost.requested).toBeGreaterThan(MAXIMUM)
    // GraphQL over HTTP, section 6.4.1: application/json.
    expect(status).toBe(200)
  })

  test('is the same over a WebSocket', async ({ post, postBySocket }) => {
    const cost = (await post(LIST, { n: 10 })).body.extensions.cost
    expect((await postBySocket(LIST, { n: 10 })).extensions).toEqual({ cost })
    expect((await postBySocket(LIST, { n: 1000 })).extensions.cost.requested).toBeGreaterThan(MAXIMUM)
  })

  test('is part of each server-sent event', async ({ app, tenant, token, ctx }) => {
    const { id } = await createUser(ctx, { name: 'Ada' })
    const query = 'subscription { userLockChanged { ... on UserLockEvent { user { id } } } }'
    const stream = await openEventStream(`${app.origin}/${tenant}/graphql`, token, query)
    await lockUser(ctx, id)
    const event = await stream.next()
    expect(event?.data?.extensions).toEqual({
      position: expect.any(String),
      cost: { requested: expect.any(Number), maximum: MAXIMUM },
    })
    stream.close()
  })
})
