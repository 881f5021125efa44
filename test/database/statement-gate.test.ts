import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createStatementGate, type GateLimits, runWithin } from '../../src/database/statement-gate.ts'

/** Acquires for a tenant and notes the order in which connections are given. */
function startRecording(limits: GateLimits) {
  const gate = createStatementGate(limits)
  const given: string[] = []
  const releases: (() => void)[] = []
  const acquire = (tenant: string, name = tenant) =>
    gate.acquire(tenant).then(
      (release) => {
        given.push(name)
        releases.push(release)
      },
      () => {},
    ) // a statement that still waits when its test is over
  const settle = () => new Promise((resolve) => setImmediate(resolve))
  const releaseFirst = async () => {
    releases.shift()?.()
    await settle()
  }
  return { gate, given, acquire, settle, releaseFirst }
}

describe('the statement gate', () => {
  test('gives a tenant its share at once, and the next connection when one is released', async () => {
    const { given, acquire, settle, releaseFirst } = startRecording({ total: 3, perTenant: 2 })
    for (const name of ['one', 'two', 'three']) void acquire('a', name)
    await settle()
    expect(given).toEqual(['one', 'two'])
    await releaseFirst()
    expect(given).toEqual(['one', 'two', 'three'])
  })

  test('leaves connections to other tenants, up to the total', async () => {
    const { given, acquire, settle } = startRecording({ total: 3, perTenant: 2 })
    for (const tenant of ['a', 'a', 'a', 'b', 'c']) void acquire(tenant)
    await settle()
    expect(given).toEqual(['a', 'a', 'b'])
  })

  test('reads the share of a tenant anew for each statement', async () => {
    let perTenant = 1
    const { given, acquire, settle, releaseFirst } = startRecording({ total: 3, perTenant: () => perTenant })
    for (const name of ['one', 'two', 'three']) void acquire('a', name)
    await settle()
    expect(given).toEqual(['one'])
    perTenant = 2
    await releaseFirst()
    expect(given).toEqual(['one', 'two', 'three'])
  })

  test('lets tenants take turns, however many statements of one wait', async () => {
    const { given, acquire, settle, releaseFirst } = startRecording({ total: 1, perTenant: 1 })
    for (const name of ['a1', 'a2', 'a3', 'a4']) void acquire('a', name)
    for (const name of ['b1', 'b2']) void acquire('b', name)
    await settle()
    for (let round = 0; round < 5; round += 1) await releaseFirst()
    expect(given).toEqual(['a1', 'a2', 'b1', 'a3', 'b2', 'a4'])
  })

  test('counts a release once', async () => {
    const gate = createStatementGate({ total: 1, perTenant: 1 })
    const release = await gate.acquire('a')
    release()
    release()
    await gate.acquire('a')
    const second = vi.fn()
    void gate.acquire('a').then(second, () => {})
    await new Promise((resolve) => setImmediate(resolve))
    expect(second).not.toHaveBeenCalled()
  })

  describe('with a statement that has waited for 5 s', () => {
    beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
    afterEach(() => void vi.useRealTimers())

    test('rejects it with 429 when others were served meanwhile, and gives its turn to the next', async () => {
      const gate = createStatementGate({ total: 2, perTenant: 1 })
      const releaseOther = await gate.acquire('b')
      const release = await gate.acquire('a')
      const rejected = expect(gate.acquire('a')).rejects.toMatchObject({ status: 429, retryAfterSeconds: 1 })
      vi.advanceTimersByTime(4000)
      releaseOther()
      vi.advanceTimersByTime(1000)
      await rejected
      const next = gate.acquire('a')
      release()
      await expect(next).resolves.toBeTypeOf('function')
    })

    test('rejects it with 503 when those in progress have failed since, as while no connection answers', async () => {
      const gate = createStatementGate({ total: 2, perTenant: 1 })
      const acquireOther = () => runWithin(gate, { tenant: 'b', workload: 'change' }, fail)
      const fail = () => Promise.reject(new Error('Connection terminated unexpectedly'))
      const release = await gate.acquire('a')
      release()
      await gate.acquire('a')
      const rejected = expect(gate.acquire('a')).rejects.toMatchObject({ status: 503 })
      vi.advanceTimersByTime(4000)
      await expect(acquireOther()).rejects.toThrow('Connection terminated')
      vi.advanceTimersByTime(1000)
      await rejected
    })

    test('rejects it with 503 when no connection was released, as while the database is silent', async () => {
      const gate = createStatementGate({ total: 1, perTenant: 1 })
      await gate.acquire('a')
      const headers = { 'retry-after': '5' }
      const rejected = expect(gate.acquire('a')).rejects.toMatchObject({ status: 503, headers })
      vi.advanceTimersByTime(5000)
      await rejected
    })
  })
})
