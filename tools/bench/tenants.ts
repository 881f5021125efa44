import type autocannon from 'autocannon'
import type { Deployment } from './deployment.ts'
import { type Floor, startFloor, toCost } from './floors.ts'
import { measure, type Scenario, type Target } from './measure.ts'
import { type Cost, computeRatio } from './ratios.ts'
import { askToken, basic, post, type Seed } from './seed.ts'

/** A request of many tenants costs at most this multiple of a request of one, in relation to the floor. */
const MAX_GROWTH = 1.2
/** How many tenants are created at the same time. */
const CONCURRENT = 10

/** The same request of each tenant. */
type Requests = autocannon.Request[]

/** Creates tenants with a machine client each. Returns their requests by scenario. */
async function createTenants({ origin, operator }: Deployment, count: number) {
  const ask = (fields: Record<string, string>) =>
    askToken(origin, operator, { grant_type: 'client_credentials', ...fields }, 'system')
  const root = await ask({ scope: 'tenants:write' })
  const create = async (tenant: string) => {
    await post(
      `${origin}/system/graphql`,
      { authorization: `Bearer ${root.access_token}` },
      {
        query: 'mutation ($slug: String!) { createTenant(input: {slug: $slug}) { __typename } }',
        variables: { slug: tenant },
      },
    )
    const { access_token: token } = await ask({
      scope: 'users:read users:write clients:read clients:write',
      resource: `${origin}/${tenant}/api`,
    })
    const headers = { authorization: `Bearer ${token}` }
    const client = await post(`${origin}/${tenant}/api/v1/clients`, headers, {
      name: 'Backend',
      type: 'login',
      appType: 'machine',
      scopes: ['users:read'],
    })
    return {
      client_credentials: {
        method: 'POST' as const,
        path: `/${tenant}/oidc/token`,
        headers: { 'content-type': 'application/x-www-form-urlencoded', authorization: basic(client) },
        body: 'grant_type=client_credentials&scope=users:read',
      },
      'REST users': { path: `/${tenant}/api/v1/users`, headers },
    }
  }
  const created: Awaited<ReturnType<typeof create>>[] = []
  while (created.length < count) {
    const missing = Math.min(CONCURRENT, count - created.length)
    const slugs = Array.from({ length: missing }, (_, n) => `growth-${created.length + n}`)
    created.push(...(await Promise.all(slugs.map(create))))
  }
  return {
    client_credentials: created.map((requests) => requests.client_credentials),
    'REST users': created.map((requests) => requests['REST users']),
  }
}

/** The token request of the floor, with a key for each tenant. */
function buildFloorRequests({ requests }: Floor, count: number): Requests {
  const [request] = requests.client_credentials?.requests ?? []
  return Array.from({ length: count }, (_, n) => ({ ...request, path: `/token?tenant=${n}` }))
}

/** A load that takes one of the requests at random. */
const toScenario = (name: string, requests: Requests): Scenario => ({
  name,
  requests: [
    {
      ...requests[0],
      setupRequest: (request) => ({ ...request, ...requests[Math.floor(Math.random() * requests.length)] }),
    },
  ],
})

/** Measures one tenant and all of them in turns, and divides the costs. The first round warms up. */
async function measureGrowth(
  target: Target,
  name: string,
  requests: Requests,
  { rounds, seconds }: { rounds: number; seconds: number },
) {
  const measured: { ours: Cost; floor: Cost }[] = []
  for (let round = 0; round <= rounds; round++) {
    const one = await measure(target, toScenario(name, requests.slice(0, 1)), seconds)
    const all = await measure(target, toScenario(name, requests), seconds)
    if (one.failures + all.failures > 0) throw new Error(`${name}: ${one.failures + all.failures} failures`)
    if (round > 0) measured.push({ ours: toCost(all), floor: toCost(one) })
  }
  return computeRatio(measured).server
}

/**
 * Compares the processor time of a request to `count` tenants in use with that of a request to one, and the same for a
 * server that only signs tokens with a key for each tenant. Returns a table, and whether all are within the limit.
 */
export async function compareTenants(
  deployment: Deployment,
  seed: Seed,
  count: number,
  load: { rounds: number; seconds: number },
): Promise<{ table: string; isWithin: boolean }> {
  const floor = await startFloor(deployment, seed)
  try {
    const requests = await createTenants(deployment, count)
    const least = await measureGrowth(floor, 'floor', buildFloorRequests(floor, count), load)
    const lines = [`floor               ${least.toFixed(2)}`]
    let isWithin = true
    for (const [name, all] of Object.entries(requests)) {
      const growth = await measureGrowth(deployment, name, all, load)
      lines.push(`${name.padEnd(18)}  ${growth.toFixed(2)}`)
      isWithin &&= growth <= MAX_GROWTH * Math.max(1, least)
    }
    return { table: lines.join('\n'), isWithin }
  } finally {
    floor.stop()
  }
}
