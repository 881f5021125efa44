import { describe, expect } from 'vitest'
import { renderMetrics } from '../../../src/core/metrics.ts'
import type { Scope } from '../../../src/core/scopes.ts'
import { buildSchema } from '../../../src/server/graphql-schema.ts'
import { createUser } from '../../../src/users/users.ts'
import { tokenFor } from '../../support/actors.ts'
import { createRandom, generateQuery } from '../../support/generated-queries.ts'
import { type GraphqlServer, serveGraphql } from '../../support/graphql-server.ts'
import { test as base } from '../../support/graphql-test.ts'
import { awaitVisible } from '../../support/subscriptions.ts'

const QUERIES = 150
const ACCEPT = 'application/graphql-response+json'

const test = base
  .extend('compiled', { scope: 'file' }, async ({ app: _ }, { onCleanup }) => {
    const server = await serveGraphql({ compilation: 'all' })
    onCleanup(server.close)
    return server
  })
  .extend('plain', { scope: 'file' }, async ({ app: _ }, { onCleanup }) => {
    const server = await serveGraphql({ compilation: 'none' })
    onCleanup(server.close)
    return server
  })
  .extend('repeated', { scope: 'file' }, async ({ app: _ }, { onCleanup }) => {
    const server = await serveGraphql({ compilation: 'repeated' })
    onCleanup(server.close)
    return server
  })
  .extend('ids', { scope: 'file' }, async ({ ctx, client }) => {
    const users = await Promise.all(
      ['ada', 'eve', 'bob'].map((name) =>
        createUser(ctx, { email: `${name}@acme.example`, givenName: name, userMetadata: { team: name } }),
      ),
    )
    return [...users.map(({ id }) => id), client.id, 'user_none', 'no id']
  })
  /** The status and the text of a response, without the id of the request. */
  .extend(
    'ask',
    { scope: 'file' },
    ({ tenant }) =>
      async (at: GraphqlServer, query: string, token: string | null): Promise<string> => {
        const authorization: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {}
        const response = await fetch(at.urlOf(tenant), {
          method: 'POST',
          headers: { 'content-type': 'application/json', accept: ACCEPT, ...authorization },
          body: JSON.stringify({ query }),
        })
        const text = await response.text()
        return `${response.status} ${text.replaceAll(/"requestId":"[^"]*"/g, '"requestId":""')}`
      },
  )

/** The value of the metric of queries that have no compiled form. */
async function countPlainQueries(): Promise<number> {
  const text = await (await renderMetrics()).text()
  return Number(/^vestibule_graphql_plain_queries_total (\d+)$/m.exec(text)?.[1])
}

const CALLERS: [string, number, readonly Scope[] | null | undefined][] = [
  ['an administrator', 1, undefined],
  ['a caller who reads users only', 2, ['users:read']],
  ['a caller without scopes', 3, []],
  ['an anonymous caller', 4, null],
]

describe('a compiled query', () => {
  test.for(CALLERS)(
    'of %s has the response of a plain one',
    { timeout: 60_000 },
    async ([, seed, scopes], { tenant, compiled, plain, ids, ask }) => {
      const token = scopes === null ? null : await tokenFor(tenant, scopes)
      await awaitVisible(tenant)
      const random = createRandom(seed)
      const kinds = new Set<boolean>()
      const before = await countPlainQueries()
      for (let count = 0; count < QUERIES; count++) {
        const query = generateQuery(buildSchema(), random, ids)
        const [fast, slow] = [await ask(compiled, query, token), await ask(plain, query, token)]
        expect([query, fast]).toEqual([query, slow])
        kinds.add(fast.includes('"errors"'))
      }
      expect(kinds).toContain(scopes !== undefined)
      expect(await countPlainQueries()).toBe(before)
    },
  )

  test('is compiled when its text is sent again; one with a directive is counted instead', async ({
    repeated,
    ask,
    token,
  }) => {
    const before = await countPlainQueries()
    const query = 'query again { viewer { scopes @include(if: true) } }'
    await ask(repeated, query, token)
    expect(await countPlainQueries()).toBe(before)
    await ask(repeated, query, token)
    expect(await countPlainQueries()).toBe(before + 1)
  })
})
