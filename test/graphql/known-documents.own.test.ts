import { describe, expect, vi } from 'vitest'
import { createKnownDocuments } from '../../src/graphql/limits/known-documents.ts'
import { serveGraphql } from '../support/graphql-server.ts'
import { errorOf, test } from '../support/graphql-test.ts'
import { liveBytes } from '../support/heap.ts'
import { hasServices } from '../support/services.ts'
import { newServerEnv, startTestServer } from '../support/started-servers.ts'

vi.hoisted(() => {
  process.env.RATE_LIMIT = '1000000'
})

const MAX_KNOWN_BYTES = 32_000_000
/** Of the heap, for everything else that requests leave there. */
const MAX_GROWTH = 800_000
/** Comments that take 90 KB in JSON. */
const COMMENTS = '\n#'.repeat(30_000)

const list = (count: number, build: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => build(index)).join(' ')
const FIELDS = list(30, () => 'scopes tokenExpiresAt')

/** Valid documents that take as much memory as a caller can make one take. */
const LARGE: [what: string, build: (index: number) => string][] = [
  [
    'many fields',
    (index) => `query Q${index} { ${list(12, (n) => `a${n}: viewer { ${list(12, () => 'scopes')} }`)} }`,
  ],
  [
    'fragments in many places',
    (index) =>
      `query Q${index} { ${list(25, (n) => `a${n}: viewer { ...F }`)} } fragment F on Viewer { scopes }`,
  ],
  [
    'many values',
    (index) => `query Q${index} { nodes(ids: [${list(490, (n) => `"${index}-${n}"`)}]) { __typename } }`,
  ],
  ['a long comment', (index) => `query Q${index} { viewer { scopes } } #${'x'.repeat(95_000)}`],
  ['a long string', (index) => `query Q${index} { node(id: "${'x'.repeat(95_000)}") { id } }`],
]

/** Documents of which nothing may be kept. `isAnonymous` ones are sent without a token. */
const DROPPED: [what: string, isAnonymous: boolean, build: (index: number) => string][] = [
  [
    'a valid document of a stranger',
    true,
    (index) => `query Q${index} { viewer { scopes } } #${'x'.repeat(9000)}`,
  ],
  [
    'a document of a stranger that is too long',
    true,
    (index) => `query Q${index} { viewer { scopes } }${COMMENTS}`,
  ],
  [
    'an invalid document of a stranger',
    true,
    (index) => `query Q${index} { ${list(49, (n) => `${'u'.repeat(150)}${n}`)} }`,
  ],
  ['a text of a stranger that is not a document', true, (index) => `query Q${index} { ${'}'.repeat(9000)}`],
  [
    'a document of a caller with 30,000 comments',
    false,
    (index) => `query Q${index} { viewer { scopes } }${COMMENTS}`,
  ],
  ['an invalid document of a caller', false, (index) => `query Q${index} { unknown } #${'x'.repeat(95_000)}`],
  ['a text of a caller that is not a document', false, (index) => `query Q${index} { ${'}'.repeat(95_000)}`],
  [
    'a document of a caller that exceeds a limit',
    false,
    (index) => `query Q${index} { viewer { ${list(4, () => FIELDS)} } } #${'x'.repeat(90_000)}`,
  ],
  [
    'a document of a caller that costs too much',
    false,
    (index) =>
      `query Q${index} { users(pageSize: 1000) { nodes { sessions(first: 1000) { nodes { id } } } } } #${'x'.repeat(90_000)}`,
  ],
]

const callerOf = (tenant: string, clientId: string) => ({
  tenant,
  actor: { kind: 'client' as const, tenant, clientId },
  ip: null,
})

describe('the documents of a caller', () => {
  test.for([
    ['another one of its tenant executes', () => callerOf('a', 'eve')],
    ['a hundred of another tenant execute', (index: number) => callerOf('b', `eve${index % 100}`)],
  ] as const)('stay known while %s any number', ([_what, by]) => {
    const documents = createKnownDocuments()
    const own = list(20, (n) => `query Own${n} { viewer { scopes } }\n`)
      .split('\n')
      .map((text) => documents.parse(text || '{ __typename }'))
    for (const document of own) documents.keep(document, callerOf('a', 'ada'))
    const [, build] = LARGE[3] as (typeof LARGE)[number]
    for (let index = 0; index < 400; index += 1) documents.keep(documents.parse(build(index)), by(index))
    expect(documents.countBytes()).toBeGreaterThan(MAX_KNOWN_BYTES / 2)
    expect(own.filter((document) => documents.has(document))).toEqual(own)
  })
})

describe.runIf(hasServices)('a document for which there is no space', () => {
  test('displaces hundreds of small ones in less than 100 ms of computed time', () => {
    const documents = createKnownDocuments()
    const eve = callerOf('a', 'eve')
    for (let index = 0; documents.countBytes() < MAX_KNOWN_BYTES * 0.999; index += 1)
      documents.keep(documents.parse(`{a${index}:__typename}`), eve)
    const [, build] = LARGE[2] as (typeof LARGE)[number]
    const large = Array.from({ length: 12 }, (_, index) => documents.parse(build(index)))
    const start = process.cpuUsage()
    for (const document of large) documents.keep(document, eve)
    expect(process.cpuUsage(start).user).toBeLessThan(100_000)
    expect(large.filter((document) => documents.has(document))).toEqual(large)
  })
})

describe.runIf(hasServices)('the memory of documents', { timeout: 120_000 }, () => {
  test.for(LARGE)('with %s is not more than is counted, and at most 32 MB', async ([_what, build]) => {
    const documents = createKnownDocuments()
    const before = liveBytes()
    for (let index = 0; index < 600; index += 1)
      documents.keep(documents.parse(build(index)), callerOf('a', 'ada'))
    const taken = liveBytes() - before
    expect(documents.countBytes()).toBeGreaterThan(MAX_KNOWN_BYTES / 2)
    expect(documents.countBytes()).toBeLessThanOrEqual(MAX_KNOWN_BYTES)
    expect(taken).toBeLessThan(documents.countBytes() + 1_000_000)
  })

  test('of each of these kinds is bounded with the compiled queries', async ({
    tenant,
    token,
    onTestFinished,
  }) => {
    const server = await serveGraphql()
    onTestFinished(server.close)
    const send = async (index: number) => {
      const [, build] = LARGE[index % LARGE.length] as (typeof LARGE)[number]
      expect((await server.post(tenant, token, build(index))).body.data).toBeDefined()
    }
    await send(0)
    const before = liveBytes()
    for (let index = 1; index <= 450; index += 1) {
      await send(index)
      await send(index)
    }
    expect(liveBytes() - before).toBeLessThan(MAX_KNOWN_BYTES + 3_000_000)
  })

  test.for(DROPPED)('does not grow by %s', async ([_what, isAnonymous, build], { tenant, token, server }) => {
    const send = (index: number) => server.post(tenant, isAnonymous ? null : token, build(index))
    for (let index = 0; index < 20; index += 1) await send(index)
    const before = liveBytes()
    // Twice as many as would exceed the limit if their texts alone were kept.
    const count = Math.ceil((2 * MAX_GROWTH) / Buffer.byteLength(build(0)))
    for (let index = 20; index < 20 + count; index += 1) await send(index)
    expect(liveBytes() - before).toBeLessThan(MAX_GROWTH)
  })

  test('of a process with a heap of 150 MB suffices for 350 documents of strangers of 90 KB', async () => {
    const server = await startTestServer({ ...(await newServerEnv()), RATE_LIMIT: '100000' }, [
      '--max-old-space-size=150',
    ])
    for (let index = 0; index < 350; index += 1) {
      const response = await fetch(`${server.origin}/system/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query: `query Q${index} { viewer { scopes } }${COMMENTS}` }),
      })
      expect(response.status).toBe(200)
    }
    expect((await fetch(`${server.origin}/health/ready`)).status).toBe(200)
  })
})

describe('the place of an error', () => {
  test('is named for a document that is known, as for a new one', async ({ tenant, token, server }) => {
    const query = 'query Places {\n  viewer { scopes }\n  nodes(ids: ["user_x"]) { id }\n}'
    for (let round = 0; round < 3; round += 1) {
      const { body } = await server.post(tenant, token, query)
      expect(errorOf(body)).toMatchObject({ locations: [{ line: 3, column: 3 }], path: ['nodes', 0] })
    }
    for (const [text, place] of [
      ['{\n  unknown\n}', { line: 2, column: 3 }],
      ['{\n  viewer {\n}', { line: 3, column: 1 }],
    ] as const)
      expect(errorOf((await server.post(tenant, token, text)).body)).toMatchObject({ locations: [place] })
  })
})
