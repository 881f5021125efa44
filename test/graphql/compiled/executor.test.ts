import { buildSchema, type DocumentNode, execute, parse } from 'graphql'
import { describe, expect, test } from 'vitest'
import { executeQuery } from '../../../src/graphql/compiled/execute.ts'

const schema = buildSchema(`
  enum Color { RED GREEN }
  interface Named { name: String }
  type Cat implements Named { name: String, lives: Int!, friend: Named }
  type Dog implements Named { name: String, owner: String! }
  union Pet = Cat | Dog
  type Query {
    text: String, number: Int, flag: Boolean, color: Color, colors: [Color!], id: ID, float: Float
    required: String!, broken: String, late: String, brokenLate: String!
    cat(lives: Int = 9): Cat, cats: [Cat!], pets: [Pet], named: Named, nested: [[Int]]
    bad: [String!]
  }
`)

const cat = (name: string, lives: unknown = 9) => ({ __typename: 'Cat', name, lives })

/** Values, errors and promises in every position. */
const rootValue = {
  text: 'a "text"',
  number: 7,
  flag: false,
  color: 'RED',
  colors: ['RED', 'GREEN'],
  id: 12,
  float: 1.5,
  required: null,
  broken: () => {
    throw new Error('broken')
  },
  late: () => Promise.resolve('late'),
  brokenLate: () => Promise.reject(new Error('broken late')),
  cat: ({ lives }: { lives: number }) => ({
    ...cat('Tom', lives),
    friend: { __typename: 'Dog', name: 'Rex' },
  }),
  cats: () => [cat('a'), Promise.resolve(cat('b')), cat('c', Promise.resolve(3))],
  pets: [cat('d'), null, { __typename: 'Dog', name: 'Rex', owner: null }, new Error('gone')],
  named: Promise.resolve({ __typename: 'Dog', name: () => 'Rex', owner: 'Ada' }),
  nested: [[1, null], null, [2]],
  bad: ['x', null],
}

const QUERIES = [
  '{ text number flag color colors id float }',
  '{ a: text b: text text late }',
  '{ broken text }',
  '{ text required }',
  '{ late brokenLate text }',
  '{ cat { name lives friend { __typename name } } other: cat(lives: 1) { lives } }',
  '{ cats { name lives __typename } }',
  '{ pets { __typename ... on Named { name } ... on Cat { lives } ... on Dog { owner } } }',
  '{ named { name ...of ... on Dog { owner } } } fragment of on Named { __typename n: name }',
  '{ nested bad }',
  '{ cat { friend { name } } cat { friend { ... on Dog { owner } } } }',
  'query ($lives: Int = 4) { cat(lives: $lives) { lives } }',
  'query ($lives: Int!) { cat(lives: $lives) { lives } }',
  '{ cat(lives: 2) { ...a ...a } } fragment a on Cat { lives ... { name } }',
]

const run = async (document: DocumentNode, variableValues = {}) => {
  const args = { schema, document, rootValue, variableValues, contextValue: {} }
  let wasPlain = false
  const executePlain = (given: typeof args) => {
    wasPlain = true
    return execute(given)
  }
  const result = await executeQuery(args, executePlain as never, 'all')
  return { result: JSON.stringify(result), plain: JSON.stringify(await execute(args)), wasPlain }
}

describe('executeQuery', () => {
  test.for(QUERIES)('returns the result of graphql-js for %s', async (query) => {
    const { result, plain, wasPlain } = await run(parse(query), query.includes('Int!') ? { lives: 2 } : {})
    expect(JSON.parse(result)).toEqual(JSON.parse(plain))
    expect([result.length, wasPlain]).toEqual([plain.length, false])
  })

  test.for([
    '{ text @include(if: true) }',
    '{ __schema { queryType { name } } }',
    '{ __proto__: text }',
    '{ ...a } fragment a on Query { text @skip(if: false) }',
  ])('leaves %s to the plain execution', async (query) => {
    const { result, plain, wasPlain } = await run(parse(query))
    expect([result, wasPlain]).toEqual([plain, true])
  })

  test('leaves invalid variables to the plain execution', async () => {
    const { result, plain, wasPlain } = await run(
      parse('query ($lives: Int!) { cat(lives: $lives) { lives } }'),
    )
    expect([result, wasPlain]).toEqual([plain, true])
    expect(result).toContain('$lives')
  })

  test('compiles a query when it is executed again', () => {
    const plain: unknown[] = []
    const args = { schema, document: parse('{ text }'), rootValue, contextValue: {} }
    const ask = () => executeQuery(args, (given) => plain.push(given), 'repeated')
    expect([ask(), ask(), ask()]).toEqual([1, { data: { text: 'a "text"' } }, { data: { text: 'a "text"' } }])
  })
})
