import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { restRoutes } from '../../src/rest/rest.ts'
import { openSurfaces, type Surfaces } from '../support/surfaces.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { expectAlike, overGraphql, overRest } from './call.ts'
import { stateOf } from './compare.ts'
import { OPERATIONS } from './operations.ts'
import { newWorld } from './world.ts'

// The operations of the specification's table, each driven through REST in one tenant and through GraphQL in a twin of it.
// What they answer, refuse and leave in the database must be the same.

let surfaces: Surfaces
let upstream: Upstream
beforeAll(async () => {
  surfaces = await openSurfaces()
  upstream = await startUpstream()
})
afterAll(async () => {
  upstream.close()
  await surfaces.close()
})

/** Driven through both surfaces by tests of their own, as they need an operator or whole files; or REST has them alone. */
const ELSEWHERE = [
  'createTenant',
  'listTenants',
  'getTenant',
  'deleteTenant',
  'listEvents',
  'getTenantSettings',
  'getUserRoles',
  'importUsers',
  'exportUsers',
]

it('covers every operation that both surfaces have', () => {
  const missing = restRoutes
    .map(({ operationId }) => operationId)
    .filter((name) => !(name in OPERATIONS) && !ELSEWHERE.includes(name))
  expect(missing).toEqual([])
})

describe.each(Object.entries(OPERATIONS))('%s', (_name, calls) => {
  it('answers, refuses and leaves behind the same over REST and GraphQL', async () => {
    const [left, right] = [await newWorld(upstream), await newWorld(upstream)]
    expect(await stateOf(right.tenant)).toEqual(await stateOf(left.tenant))
    for (const call of calls) {
      const rest = await overRest(surfaces, left, await call.rest(left))
      const graphql = await overGraphql(surfaces, right, await call.gql(right))
      expectAlike(rest, graphql, left.tenant, right.tenant)
      expect(await stateOf(right.tenant), call.title).toEqual(await stateOf(left.tenant))
    }
  })
})
