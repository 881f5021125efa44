import { describe, expect } from 'vitest'
import type { WorkloadKind } from '../../src/core/workload.ts'
import { newTenant, tokenFor } from '../support/actors.ts'
import { bindCalls } from '../support/calls.ts'
import { connectToDatabase } from '../support/connections.ts'
import { sqlFor } from '../support/database.ts'
import { test as base } from '../support/fixtures.ts'
import { makeClient, tokenRequest } from '../support/protocol.ts'
import { hasServices } from '../support/services.ts'

/**
 * Far below the statement timeout of lists, which a request that waits for a list's connection would take.
 */
const QUICK_MS = 1500
const CALLS = 40
const SEARCH = '{ users(filter: {search: "ada"}) { totalSize nodes { id } } }'

const test = base
  /** Makes every search, and every change of a user's name, wait until the test ends. */
  .extend('blockSearches', async () => async () => {
    const connection = await connectToDatabase()
    await connection.query('BEGIN')
    await connection.query('LOCK TABLE "UserTerm" IN ACCESS EXCLUSIVE MODE')
    return () => connection.query('ROLLBACK')
  })
  .extend('neighbor', { scope: 'file' }, async ({ app: _ }) => {
    const tenant = await newTenant()
    return {
      tenant,
      client: await makeClient(tenant, { appType: 'machine', callbacks: [], scopes: ['users:read'] }),
    }
  })
  /** Milliseconds that a token request at the neighbor takes, which sends statements of its own. */
  .extend('timeProtocol', ({ app, neighbor }) => async () => {
    const started = performance.now()
    const answer = await tokenRequest(app, neighbor.tenant, neighbor.client, {
      grant_type: 'client_credentials',
      scope: 'users:read',
    })
    expect(answer.status).toBe(200)
    return performance.now() - started
  })

const countStatuses = (statuses: number[]) =>
  Object.fromEntries(
    [...new Set(statuses)]
      .toSorted()
      .map((status) => [status, statuses.filter((other) => other === status).length]),
  )

describe.runIf(hasServices)('a tenant whose lists take long', () => {
  test('gets 503 after two seconds for those that run, and 429 for those that still wait after five', async ({
    blockSearches,
    rest,
  }) => {
    const release = await blockSearches()
    const started = performance.now()
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => rest('GET', '/users?search=ada').then(({ status }) => status)),
    )
    await release()
    const { 503: ended = 0, 429: waited = 0 } = countStatuses(answers)
    expect(ended + waited).toBe(8)
    expect(ended).toBeGreaterThanOrEqual(2)
    expect(performance.now() - started).toBeLessThan(9000)
  })

  test('has two seconds for each statement of a list, and ten for others, and sorts no bitmap in a list', async ({
    tenant,
  }) => {
    const readSettings = async (workload: WorkloadKind) => {
      const text = `SELECT current_setting('statement_timeout') AS "timeout", current_setting('enable_bitmapscan') AS "bitmaps" FROM "Tenant" WHERE "tenantId" = $1`
      return (await sqlFor({ tenant, workload })<{ timeout: string; bitmaps: string }>(text, [tenant]))[0]
    }
    expect(await readSettings('list')).toEqual({ timeout: '2s', bitmaps: 'off' })
    expect(await readSettings('change')).toEqual({ timeout: '10s', bitmaps: 'on' })
  })

  test.for([
    ['GraphQL lists', ({ gql }) => gql(SEARCH)],
    ['REST lists', ({ rest }) => rest('GET', '/users?search=ada')],
    ['changes', ({ rest }, index) => rest('POST', '/users', { name: `Person ${index}` })],
  ] as [string, (calls: ReturnType<typeof bindCalls>, index: number) => Promise<unknown>][])(
    'does not delay the protocol of another tenant, nor its lists, by %s',
    async ([_, call], { app, tenant, token, neighbor, blockSearches, timeProtocol }) => {
      const neighborCalls = bindCalls(app, neighbor.tenant, await tokenFor(neighbor.tenant))
      const release = await blockSearches()
      const calls = Array.from({ length: CALLS }, (_, index) =>
        call(bindCalls(app, tenant, token), index).catch(() => null),
      )
      await new Promise((resolve) => setTimeout(resolve, 200))
      for (let round = 0; round < 3; round += 1) expect(await timeProtocol()).toBeLessThan(QUICK_MS)
      const started = performance.now()
      expect((await neighborCalls.rest('GET', '/clients')).status).toBe(200)
      expect(performance.now() - started).toBeLessThan(QUICK_MS)
      await release()
      await Promise.all(calls)
    },
  )
})
