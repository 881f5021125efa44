import { afterEach, describe, expect, vi } from 'vitest'
import { connectToDatabase } from '../support/connections.ts'
import { test } from '../support/fixtures.ts'
import { endConnectionAt, listTargets, type Moment, retryUnavailable } from '../support/lost-connections.ts'
import { collectUncaught } from '../support/uncaught.ts'

describe.each<Moment>(['before', 'after'])('a connection that ends %s a statement', (moment) => {
  afterEach(() => void vi.restoreAllMocks())

  test('is answered with 503 and Retry-After at every statement of a write, and the retry succeeds', async ({
    rest,
    email,
  }) => {
    const admin = await connectToDatabase()
    const failures = retryUnavailable()
    const uncaught = collectUncaught()
    // Each write finds the caches expired, so that it reads changes, the tenant, its keys and the client too. In a process
    // of its own: entries that were loaded in the future would not be checked.
    const readClock = performance.now.bind(performance)
    let aheadMs = 0
    vi.spyOn(performance, 'now').mockImplementation(() => readClock() + aheadMs)
    let number = 0
    const create = async () => {
      aheadMs += 61_000
      const body = { email: email(`${moment}-${++number}`) }
      expect(await rest('POST', '/users', body)).toMatchObject({ status: 201, body })
    }
    const targets = await listTargets(create)
    expect(targets.map(({ text }) => text)).toEqual(expect.arrayContaining(['BEGIN', 'COMMIT']))
    for (const target of targets) await endConnectionAt(admin, target, moment, create)
    expect(failures.length).toBeGreaterThanOrEqual(moment === 'before' ? 4 : 2)
    expect(failures.filter(({ status, retryAfter }) => status !== 503 || !retryAfter)).toEqual([])
    expect(uncaught).toEqual([])
  })
})
