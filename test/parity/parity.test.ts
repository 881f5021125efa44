import { isDeepStrictEqual } from 'node:util'
import { describe, expect } from 'vitest'
import { restRoutes } from '../../src/server/rest-routes.ts'
import { test as base } from '../support/fixtures.ts'
import { hasServices } from '../support/services.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { callGraphql, callRest, expectAlike } from './call.ts'
import { readState } from './compare.ts'
import { createFixture, type Fixture } from './fixture.ts'
import { OPERATIONS } from './operations.ts'

/**
 * Operations whose parity is tested elsewhere: they need an operator or whole files, or REST alone has them.
 */
const ELSEWHERE = [
  'createTenant',
  'listTenants',
  'getTenant',
  'deleteTenant',
  'listEvents',
  'getTenantSettings',
  'getTenantSetupBySlug',
  'getUserRoles',
  'importUsers',
  'importUsersFromCsv',
  'exportUsers',
]

const test = base
  .extend('upstream', { scope: 'file' }, async ({ app: _ }, { onCleanup }) => {
    const upstream = await startUpstream()
    onCleanup(upstream.close)
    return upstream
  })
  /** Pairs of equal tenants that no call has changed yet. */
  .extend('pairs', { scope: 'file' }, async (): Promise<Pair[]> => [])

type Pair = { left: Fixture; right: Fixture; state: unknown }

async function createPair(upstream: Upstream): Promise<Pair> {
  const [left, right] = [await createFixture(upstream), await createFixture(upstream)]
  const state = await readState(left.tenant)
  expect(await readState(right.tenant)).toEqual(state)
  return { left, right, state }
}

describe.runIf(hasServices)('the operations of both surfaces', () => {
  test('are all compared', () => {
    const missing = restRoutes
      .map(({ operationId }) => operationId)
      .filter((name) => !(name in OPERATIONS) && !ELSEWHERE.includes(name))
    expect(missing).toEqual([])
  })

  test.for(Object.entries(OPERATIONS))(
    '%s answers, rejects and writes the same over REST and GraphQL',
    async ([, calls], { app, upstream, pairs }) => {
      const pair = pairs.pop() ?? (await createPair(upstream))
      const { left, right, state } = pair
      let after = state
      for (const call of calls) {
        const rest = await callRest(app, left, await call.rest(left))
        const graphql = await callGraphql(app, right, await call.gql(right))
        expectAlike(rest, graphql, left.tenant, right.tenant)
        after = await readState(left.tenant)
        expect(await readState(right.tenant), call.title).toEqual(after)
      }
      if (isDeepStrictEqual(after, state)) pairs.push(pair)
    },
  )
})
