import { describe, expect, test } from 'vitest'
import { hasServices } from '../support/services.ts'
import {
  callGraphql,
  callRest,
  makeTenant,
  newServerEnv,
  startTestServer,
} from '../support/started-servers.ts'

const COLLECTION = / (Scavenge|Mark-Compact)\D*([\d.]+) \([\d.]+\) -> ([\d.]+) \([\d.]+\) MB/

/**
 * The megabytes that the collections of young objects in the output of `node --trace-gc` have left in the heap: those of
 * objects that became old ones.
 */
function sumPromotedMb(output: string): number {
  let promoted = 0
  let previous: number | undefined
  for (const [, kind, , after] of [...output.matchAll(new RegExp(COLLECTION, 'g'))]) {
    const left = Number(after)
    if (kind === 'Scavenge' && previous !== undefined) promoted += left - previous
    previous = left
  }
  return promoted
}

const USERS = 50
const LIST = `query ($first: Int) { users(first: $first) {
  nodes { id name givenName familyName email emailVerified phoneNumber locked lastSeenAt createdAt updatedAt }
  pageInfo { hasNextPage endCursor }
} }`
const CONCURRENCY = 8

/** Calls `count` times, some at once. */
async function repeat(count: number, call: () => Promise<unknown>): Promise<void> {
  let left = count
  await Promise.all(
    Array.from({ length: CONCURRENCY }, async () => {
      while (left-- > 0) await call()
    }),
  )
}

describe.runIf(hasServices)('a server process', { timeout: 120_000 }, () => {
  test('keeps nothing of an answered request in the old generation', async () => {
    const server = await startTestServer(await newServerEnv(), ['--trace-gc'])
    const tenant = 'retention'
    const token = await makeTenant(server, `http://localhost:${new URL(server.origin).port}`, tenant)
    const names = { name: 'Ada Lovelace', givenName: 'Ada', familyName: 'Lovelace' }
    await repeat(USERS, () => callRest(server, tenant, token, '/users', names))
    /** The kilobytes that a call leaves there. */
    const measure = async (count: number, call: () => Promise<unknown>) => {
      await repeat(count, call)
      const before = sumPromotedMb(server.output())
      await repeat(count, call)
      return ((sumPromotedMb(server.output()) - before) * 1024) / count
    }
    const kept = {
      list: await measure(400, () => callGraphql(server, tenant, token, LIST, { first: USERS })),
      restList: await measure(400, () => callRest(server, tenant, token, `/users?pageSize=${USERS}`)),
      sessions: await measure(1000, () => callRest(server, tenant, token, '/sessions?pageSize=1')),
    }
    // A page of users takes 40 KB.
    expect(kept.list).toBeLessThan(10)
    expect(kept.restList).toBeLessThan(10)
    expect(kept.sessions).toBeLessThan(4)
  })
})
