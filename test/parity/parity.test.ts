import { describe, expect } from 'vitest'
import { restRoutes } from '../../src/server/rest-routes.ts'
import { test as base } from '../support/fixtures.ts'
import { startUpstream } from '../support/upstream.ts'
import { callGraphql, callRest, expectAlike } from './call.ts'
import { readState } from './compare.ts'
import { createFixture } from './fixture.ts'
import { OPERATIONS } from './operations.ts'

const test = base.extend('upstream', { scope: 'file' }, async ({ app: _ }, { onCleanup }) => {
  const upstream = await startUpstream()
  onCleanup(upstream.close)
  return upstream
})

/**
 * Both surfaces of an operation follow from its declaration (src/operations). Compared are some of each kind, and those
 * whose lists, lookups or response bodies are written by hand.
 */
describe('the operations of both surfaces', () => {
  test('that are compared exist', () => {
    const names = restRoutes.map(({ operationId }) => operationId)
    expect(Object.keys(OPERATIONS).filter((name) => !names.includes(name))).toEqual([])
  })

  test.for(Object.entries(OPERATIONS))(
    '%s answers, rejects and writes the same over REST and GraphQL',
    async ([, calls], { app, upstream }) => {
      const [left, right] = [await createFixture(upstream), await createFixture(upstream)]
      expect(await readState(right.tenant)).toEqual(await readState(left.tenant))
      for (const call of calls) {
        const rest = await callRest(app, left, await call.rest(left))
        const graphql = await callGraphql(app, right, await call.gql(right))
        expectAlike(rest, graphql, left.tenant, right.tenant)
        expect(await readState(right.tenant), call.title).toEqual(await readState(left.tenant))
      }
    },
  )
})
