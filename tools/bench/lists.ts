import type autocannon from 'autocannon'
import type { Deployment } from './deployment.ts'
import { measure } from './measure.ts'
import { askToken } from './seed.ts'

const SMALL = 1000
const PAGE_SIZE = 50
/** The position of the deep page: page 19,000 of a million users. */
const DEEP = 0.95
/** The number of users that the search finds in each tenant. */
const FOUND = 100
const ROUNDS = 3
/** Rows of one INSERT. A long transaction hides new events from every tenant of the cluster. */
const BATCH = 2000

/**
 * Users with four given names, some without a phone number or a sign-in, and FOUND of them with the family
 * name Lovelace. Ids are in the order of creation, like those of the program.
 */
const FILL = `
  INSERT INTO "User" ("tenantId", "id", "name", "givenName", "familyName", "email", "emailKey", "emailVerified", "phoneNumber",
    "phoneNumberKey", "locked", "lastSeenAt", "createdAt", "updatedAt", "appMetadata")
  SELECT $1, 'user_' || lpad(i::text, 26, '0'), given || ' ' || family, given, family, e, e, i % 3 > 0,
    CASE WHEN i % 2 = 0 THEN '+4366' || i END, CASE WHEN i % 2 = 0 THEN '+4366' || i END, i % 50 = 0,
    CASE WHEN i % 4 > 0 THEN t + interval '1 day' END, t, t, jsonb_build_object('plan', (ARRAY['free', 'pro'])[1 + i % 2])
  FROM generate_series($2::int, $3::int) i, LATERAL (SELECT
    (ARRAY['Anna', 'Łukasz', 'Søren', 'Zoë'])[1 + i % 4] AS given,
    CASE WHEN i % ($4::int / ${FOUND}) = 7 THEN 'Lovelace' ELSE 'Family' || i / 10 END AS family,
    'person.' || i || '@example.com' AS e, '2026-01-01'::timestamptz + i * interval '1 second' AS t) x`

async function fill({ db }: Deployment, tenant: string, users: number): Promise<void> {
  const started = performance.now()
  for (let first = 1; first <= users; first += BATCH)
    await db.query(FILL, [tenant, first, Math.min(first + BATCH - 1, users), users])
  for (const table of ['User', 'UserTerm', 'UserCount', 'UserRange'])
    await db.query(`VACUUM (ANALYZE) "${table}"`)
  const seconds = (performance.now() - started) / 1000
  process.stdout.write(`filled tenant ${tenant} with ${users} users in ${seconds.toFixed(0)} s\n`)
}

type Target = { tenant: string; users: number; token: string }

/** Creates a tenant with `users` users, and a management token for it. */
export async function createTarget(
  deployment: Deployment,
  tenant: string,
  users: number,
  scope = 'users:read users:read_app_metadata',
): Promise<Target> {
  const { origin, operator } = deployment
  const ask = (form: object) =>
    askToken(origin, operator, { grant_type: 'client_credentials', ...form }, 'system')
  const root = await ask({ scope: 'tenants:write' })
  const query = 'mutation ($slug: String!) { createTenant(input: {slug: $slug}) { __typename } }'
  await fetch(`${origin}/system/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${root.access_token}` },
    body: JSON.stringify({ query, variables: { slug: tenant } }),
  })
  await fill(deployment, tenant, users)
  const { access_token: token } = await ask({ scope, resource: `${origin}/${tenant}/api` })
  return { tenant, users, token }
}

const NODES =
  'nodes { id name givenName familyName email emailVerified locked lastSeenAt updatedAt createdAt }'

function graphqlOf({ tenant, token }: Target, args: string, selection = NODES): autocannon.Request {
  return {
    method: 'POST',
    path: `/${tenant}/graphql`,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query: `{ users${args && `(${args})`} { ${selection} } }` }),
  }
}
const restOf = ({ tenant, token }: Target, query: string): autocannon.Request => ({
  path: `/${tenant}/api/v1/users${query}`,
  headers: { authorization: `Bearer ${token}` },
})

/** A cursor at the end of the page before the deep page. `orderBy` is an argument of GraphQL. */
async function deepCursor({ origin }: Deployment, of: Target, orderBy = ''): Promise<string> {
  const page = Math.floor((of.users * DEEP) / PAGE_SIZE) - 1
  const { path = '', ...init } = graphqlOf(
    of,
    `page: ${page}, pageSize: ${PAGE_SIZE}${orderBy}`,
    'pageInfo { endCursor }',
  )
  const answer = await fetch(`${origin}${path}`, init as RequestInit)
  const { data, errors } = (await answer.json()) as {
    data?: { users?: { pageInfo: { endCursor: string } } }
    errors?: unknown
  }
  if (!data?.users) throw new Error(JSON.stringify(errors))
  return data.users.pageInfo.endCursor
}

const BY_NAME = ', orderBy: {field: NAME, direction: DESC}'

/** Each list as a request to a tenant. */
async function listsOf(deployment: Deployment, of: Target): Promise<Record<string, autocannon.Request>> {
  const [deep, deepByName] = [await deepCursor(deployment, of), await deepCursor(deployment, of, BY_NAME)]
  return {
    'first page, GraphQL': graphqlOf(of, ''),
    'first page with totalSize, GraphQL': graphqlOf(of, '', `totalSize ${NODES}`),
    'first page, REST': restOf(of, ''),
    'page 19,000 by cursor, GraphQL': graphqlOf(of, `first: ${PAGE_SIZE}, after: "${deep}"`),
    'page 19,000 by cursor, REST': restOf(of, `?after=${deep}`),
    'the same by name, descending, GraphQL': graphqlOf(
      of,
      `first: ${PAGE_SIZE}, after: "${deepByName}"${BY_NAME}`,
    ),
    'search that finds 100, GraphQL': graphqlOf(of, 'filter: {search: "lovel"}'),
    'the same, two words, totalSize, GraphQL': graphqlOf(
      of,
      'filter: {search: "lovelace søren"}',
      `totalSize ${NODES}`,
    ),
    'the same, and not locked, REST': restOf(of, '?search=lovelace&locked=false'),
    'search that finds a quarter, GraphQL': graphqlOf(of, 'filter: {search: "ann"}'),
    'verified and not locked, GraphQL': graphqlOf(of, 'filter: {emailVerified: true, locked: false}'),
  }
}

const median = (values: number[]): number =>
  values.toSorted((one, other) => one - other)[values.length >> 1] ?? Number.NaN

/**
 * Compares lists of a tenant of a thousand users with those of a large tenant: milliseconds per response on
 * one connection, and their ratio. Both tenants are measured in turns; the median of the rounds counts.
 */
export async function compareLists(deployment: Deployment, users: number, seconds: number): Promise<string> {
  const small = await createTarget(deployment, 'lists-small', SMALL)
  const large = await createTarget(deployment, 'lists-large', users)
  const requests = [await listsOf(deployment, small), await listsOf(deployment, large)]
  const lines = [['list', `${SMALL} users ms`, `${users} users ms`, 'ratio']]
  for (const name of Object.keys(requests[0] ?? {})) {
    const times: number[][] = [[], []]
    for (let round = 0; round <= ROUNDS; round += 1)
      for (const [which, lists] of requests.entries()) {
        const request = lists[name] as autocannon.Request
        const measured = await measure(
          deployment,
          { name, requests: [request], connections: 1 },
          seconds / ROUNDS,
        )
        if (measured.failures > 0) throw new Error(`${name}: ${measured.failures} failures`)
        if (round > 0) times[which]?.push(1000 / measured.requestsPerSecond) // the first round warms up
      }
    const [one = Number.NaN, other = Number.NaN] = times.map(median)
    lines.push([name, one.toFixed(2), other.toFixed(2), (other / one).toFixed(2)])
  }
  const width = Math.max(...lines.map(([name = '']) => name.length))
  return lines
    .map(([name = '', ...cells]) => [name.padEnd(width), ...cells.map((cell) => cell.padStart(18))].join(''))
    .join('\n')
}
