import { once } from 'node:events'
import type { Deployment } from './deployment.ts'

/** The longest time that one request of at most 100 KB may keep the event loop of the server. */
const LIMIT_MS = 20
/** The least of several tries counts: other programs of the machine delay single tries. */
const TRIES = 8
const BYTES = 99_000

const repeat = (text: string, bytes: number): string => text.repeat(Math.floor(bytes / text.length))
const list = (count: number, build: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => build(index)).join(' ')
const members = (bytes: number): string => {
  let text = ''
  for (let index = 0; text.length < bytes; index += 1) text += `"m${index}":1,`
  return `{${text.slice(0, -1)}}`
}

/** The GraphQL documents and the other bodies whose reading, parsing and validation are the most expensive. */
const DOCUMENTS: Record<string, string> = {
  'fields of one name': `{ ${repeat('viewer { scopes } ', 9000)} }`,
  'as many fields of one name as fit the limits': `{ ${'users(first: 1) { nodes { id name email } } '.repeat(18)} }`,
  'as many fields as fit the limits': `{ ${list(3, (set) => `s${set}: users(first: 1) { nodes { ${list(140, (index) => `f${index}`)} } }`)} }`,
  spreads: `{ ${repeat('...A ', 700)} } fragment A on Query { viewer { scopes } }`,
  'fragments that double at each level': `{ viewer { user { ...F0 } } } ${list(30, (index) => `fragment F${index} on User { a: user { ...F${index + 1} } b: user { ...F${index + 1} } }`)} fragment F30 on User { id }`,
  variables: `query (${list(390, (index) => `$v${index}: Int`)}) { viewer { scopes } }`,
  'a list of values': `{ nodes(ids: [${repeat('"a" ', 7600)}]) { id } }`,
  comments: `{ viewer { scopes } }${repeat('#\n', BYTES - 2000)}`,
  'a long string': `{ users(filter: {search: "${repeat('a ', BYTES - 2000)}"}) { pageSize } }`,
}

type Sent = { name: string; path: string; init: RequestInit }

function listRequests(tenant: string, token: string): Sent[] {
  const json = { 'content-type': 'application/json' }
  const asCaller = { ...json, authorization: `Bearer ${token}` }
  const post = (name: string, path: string, headers: Record<string, string>, body: string): Sent => ({
    name,
    path: `/${tenant}${path}`,
    init: { method: 'POST', headers, body },
  })
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  return [
    ...Object.entries(DOCUMENTS).flatMap(([name, query]) => [
      post(`GraphQL, ${name}`, '/graphql', asCaller, JSON.stringify({ query })),
      post(`GraphQL, ${name}, anonymous`, '/graphql', json, JSON.stringify({ query })),
    ]),
    post(
      'GraphQL, unknown members of a variable',
      '/graphql',
      asCaller,
      `{"query":"mutation ($input: CreateUserInput!) { createUser(input: $input) { __typename } }","variables":{"input":${members(BYTES - 500)}}}`,
    ),
    post('REST, unknown members', '/api/v1/users', asCaller, members(BYTES)),
    post('REST, metadata', '/api/v1/users', asCaller, `{"userMetadata":${members(60_000)}}`),
    post('REST, nested lists', '/api/v1/users', asCaller, repeat('[', BYTES / 2) + repeat(']', BYTES / 2)),
    post('token, parameters', '/oidc/token', form, list(6000, (index) => `p${index}=1`).replaceAll(' ', '&')),
    post('authorize, scope', '/oidc/authorize', form, `client_id=x&scope=${repeat('a+', 65_000)}`),
  ]
}

/** The same request with another document, which no cache knows. */
function renew({ path, init }: Sent, attempt: number): RequestInit {
  if (!path.endsWith('/graphql')) return init
  const body = JSON.parse(String(init.body))
  return { ...init, body: JSON.stringify({ ...body, query: `${body.query}#${attempt}` }) }
}

async function measureStall(
  { server, origin }: Deployment,
  path: string,
  init: RequestInit,
): Promise<number> {
  server.send('start-stall')
  await once(server, 'message')
  await (await fetch(`${origin}${path}`, init)).text()
  server.send('end-stall')
  const [milliseconds] = await once(server, 'message')
  return milliseconds as number
}

/** Measures the longest delay of the event loop by each request. Returns a table, and whether all are within the limit. */
export async function compareStalls(
  deployment: Deployment,
  tenant: string,
  token: string,
): Promise<{ table: string; isWithin: boolean }> {
  const lines: string[] = []
  let isWithin = true
  for (const sent of listRequests(tenant, token)) {
    let least = Number.POSITIVE_INFINITY
    for (let attempt = 0; attempt < TRIES; attempt += 1)
      least = Math.min(least, await measureStall(deployment, sent.path, renew(sent, attempt)))
    isWithin &&= least <= LIMIT_MS
    lines.push(
      `${least.toFixed(1).padStart(7)} ms  ${sent.name}${least > LIMIT_MS ? '  EXCEEDS THE LIMIT' : ''}`,
    )
  }
  return { table: lines.join('\n'), isWithin }
}
