import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createUser, lockUser } from '../src/users/users.ts'
import { ctxFor, newTenant, tokenFor } from './support/actors.ts'
import { type GraphqlBody, startApp, type TestApp } from './support/app.ts'
import { openEventStream, openSocket } from './support/streams.ts'

let app: TestApp
let tenant: string
let token: string
beforeAll(async () => {
  app = await startApp()
  tenant = await newTenant()
  token = await tokenFor(tenant)
})
afterAll(() => app.close())

const MAXIMUM = 10_000
const LIST = `query ($n: Int) { users(first: $n) { nodes { id
  a: sessions(first: 5) { nodes { id } } b: sessions(first: 5) { nodes { id } } } } }`

async function post(query: string, variables: object = {}): Promise<{ status: number; body: GraphqlBody }> {
  const response = await app.fetch(`/${tenant}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ query, variables }),
  })
  return { status: response.status, body: (await response.json()) as GraphqlBody }
}
const costOf = async (query: string, variables?: object) =>
  (await post(query, variables)).body.extensions?.cost?.requested as number

const overSocket = (query: string, variables: Record<string, unknown> = {}) =>
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
  })

describe('extensions.cost', () => {
  it('says what an operation comes to, and what is allowed; variables count, and nested lists multiply', async () => {
    const { body } = await post(LIST, { n: 10 })
    expect(body.extensions).toEqual({ cost: { requested: expect.any(Number), maximum: MAXIMUM } })
    const [one, ten, hundred] = [
      await costOf(LIST, { n: 1 }),
      await costOf(LIST, { n: 10 }),
      await costOf(LIST, { n: 100 }),
    ]
    expect(ten - one).toBeGreaterThan(0)
    expect(hundred - ten).toBe(10 * (ten - one))
  })

  it('stands beside data and errors alike, and is missing where there is no operation to judge', async () => {
    const refused = await post('mutation { createTenant(input: { slug: "x" }) { __typename } }')
    expect(refused.body).toMatchObject({ errors: [{}], extensions: { cost: { maximum: MAXIMUM } } })
    const data = await post('mutation { createUser(input: { fields: { email: "none" } }) { __typename } }')
    expect(data.body.extensions.cost.requested).toBeGreaterThan(0)
    for (const query of ['{', '{ nonsense }'])
      expect((await post(query)).body).not.toHaveProperty('extensions')
  })

  it('comes with the refusal of what is too complex, so that the client can tell how far', async () => {
    const { status, body } = await post(LIST, { n: 1000 })
    const cost = { requested: expect.any(Number), maximum: MAXIMUM }
    expect(body).toEqual({
      errors: [
        {
          message: expect.stringContaining(`${MAXIMUM} is allowed`),
          extensions: { code: 'QUERY_TOO_COMPLEX', cost, requestId: expect.any(String) },
        },
      ],
      extensions: { cost },
    })
    expect(body.errors?.[0]?.extensions.cost.requested).toBeGreaterThan(MAXIMUM)
    expect(status).toBe(200) // application/json: GraphQL over HTTP, section 6.4.1
  })

  it('is the same over WebSockets, for subscriptions with each event', async () => {
    const cost = (await post(LIST, { n: 10 })).body.extensions.cost
    expect((await overSocket(LIST, { n: 10 })).extensions).toEqual({ cost })
    expect((await overSocket(LIST, { n: 1000 })).extensions.cost.requested).toBeGreaterThan(MAXIMUM)
  })

  it('comes with each server-sent event', async () => {
    const ctx = await ctxFor(tenant)
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
