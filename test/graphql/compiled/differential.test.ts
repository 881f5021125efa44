import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
} from 'graphql'
import { describe, expect } from 'vitest'
import { renderMetrics } from '../../../src/core/metrics.ts'
import type { Scope } from '../../../src/core/scopes.ts'
import { buildSchema } from '../../../src/server/graphql-schema.ts'
import { createUser } from '../../../src/users/users.ts'
import { tokenFor } from '../../support/actors.ts'
import { type GraphqlServer, serveGraphql } from '../../support/graphql-server.ts'
import { test as base } from '../../support/graphql-test.ts'
import { hasServices } from '../../support/services.ts'
import { awaitVisible } from '../../support/subscriptions.ts'

/** A generator of numbers from 0 to 1 with a seed, so that a failure can be repeated (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

type Generation = { schema: GraphQLSchema; random: () => number; ids: readonly string[] }

const MAX_DEPTH = 5
const MAX_FIELDS = 5

const pick = <Item>({ random }: Generation, items: readonly Item[]): Item =>
  items[Math.floor(random() * items.length)] as Item

/** A literal for an argument; null if only a developer knows a value. */
function writeArgument(generation: Generation, { name, type }: GraphQLArgument): string | null {
  const named = getNamedType(type).name
  if (named === 'ID') return `${name}: ${JSON.stringify(pick(generation, generation.ids))}`
  if (named === 'Int' && ['first', 'pageSize'].includes(name)) return `${name}: 3`
  return null
}

/** The arguments in brackets; null if a required one has no literal. */
function writeArguments(generation: Generation, { args }: GraphQLField<unknown, unknown>): string | null {
  const used = args.filter((arg) => isRequiredArgument(arg) || ['first', 'pageSize'].includes(arg.name))
  const paging = used.some(({ name }) => name === 'first')
    ? used.filter(({ name }) => name !== 'pageSize')
    : used
  const literals = paging.map((arg) => writeArgument(generation, arg))
  if (literals.includes(null)) return null
  return literals.length === 0 ? '' : `(${literals.join(', ')})`
}

function writeField(generation: Generation, field: GraphQLField<unknown, unknown>, depth: number): string[] {
  const args = writeArguments(generation, field)
  const type = getNamedType(field.type)
  if (args === null || (depth >= MAX_DEPTH && !isLeafType(type))) return []
  // An alias that tells the arguments apart: fields of one response name have to be equal.
  const alias = generation.random() < 0.2 ? `a${Math.floor(generation.random() * 1e9)}: ` : ''
  const selection = isLeafType(type) ? '' : ` ${writeSelection(generation, type, depth + 1)}`
  const needsAlias = args !== '' && alias === ''
  const name = needsAlias
    ? `b${Math.floor(generation.random() * 1e9)}: ${field.name}`
    : `${alias}${field.name}`
  return [`${name}${args}${selection}`]
}

function writeObjectFields(generation: Generation, type: GraphQLObjectType, depth: number): string[] {
  const fields = Object.values(type.getFields())
  const count = 1 + Math.floor(generation.random() * MAX_FIELDS)
  const chosen = new Set(Array.from({ length: count }, () => pick(generation, fields)))
  return [...chosen].flatMap((field) => writeField(generation, field, depth))
}

function writeSelection(generation: Generation, type: GraphQLNamedType, depth: number): string {
  const { schema, random } = generation
  const parts = ['__typename']
  if (isObjectType(type)) {
    const fields = writeObjectFields(generation, type, depth)
    parts.push(
      ...(random() < 0.2 ? [`... on ${type.name} { ${['__typename', ...fields].join(' ')} }`] : fields),
    )
  }
  if (isAbstractType(type))
    for (const possible of schema.getPossibleTypes(type))
      if (random() < 0.5)
        parts.push(
          `... on ${possible.name} { ${['__typename', ...writeObjectFields(generation, possible, depth)].join(' ')} }`,
        )
  return `{ ${parts.join(' ')} }`
}

/** A query of one or two root fields with random selections. `ids` are used where an id is required. */
function generateQuery(schema: GraphQLSchema, random: () => number, ids: readonly string[]): string {
  const generation = { schema, random, ids }
  const fields = Object.values(schema.getQueryType()?.getFields() ?? {})
  for (;;) {
    const roots = [pick(generation, fields), pick(generation, fields)].flatMap((field) =>
      writeField(generation, field, 0),
    )
    const query = `{ ${[...new Set(roots)].join(' ')} }`
    if (roots.length > 0 && query.length < 4000) return query
  }
}

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
        // A preview of a token has an id and times of its own.
        return `${response.status} ${text.replaceAll(/"(requestId|jti)":"[^"]*"|"(iat|exp|auth_time)":\d+/g, '')}`
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

describe.runIf(hasServices)('a compiled query', () => {
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
