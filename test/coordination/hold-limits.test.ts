import { describe, expect, test } from 'vitest'
import { createHoldLimit } from '../../src/coordination/hold-limits.ts'

const REJECTED = { code: 'RATE_LIMITED', status: 429, headers: { 'retry-after': '10' } }

describe('a limit of what is open at once', () => {
  const createLimit = () => createHoldLimit('sockets', { caller: 2, tenant: 3, process: 4 })
  const hold = (limit: ReturnType<typeof createLimit>, ...holders: [caller: string, tenant: string][]) =>
    holders.map(([caller, tenant]) => limit.hold({ caller, tenant }))
  const attempt = (limit: ReturnType<typeof createLimit>, caller: string, tenant: string) => () =>
    limit.hold({ caller, tenant })

  test('rejects what exceeds the share of a caller, and accepts others', () => {
    const limit = createLimit()
    hold(limit, ['ada', 'a'], ['ada', 'a'])
    expect(attempt(limit, 'ada', 'a')).toThrow(expect.objectContaining(REJECTED))
    expect(attempt(limit, 'bea', 'a')).not.toThrow()
  })

  test('rejects what exceeds the share of a tenant, and accepts other tenants', () => {
    const limit = createLimit()
    hold(limit, ['ada', 'a'], ['bea', 'a'], ['eve', 'a'])
    expect(attempt(limit, 'new', 'a')).toThrow('Too many sockets: 3 may be open at once for one tenant.')
    expect(attempt(limit, 'new', 'b')).not.toThrow()
  })

  test('rejects what exceeds the share of the process', () => {
    const limit = createLimit()
    hold(limit, ['ada', 'a'], ['bea', 'b'], ['eve', 'c'], ['kim', 'd'])
    expect(attempt(limit, 'new', 'e')).toThrow(expect.objectContaining(REJECTED))
  })

  test('accepts another after one is released, which counts once', () => {
    const limit = createLimit()
    const [first] = hold(limit, ['ada', 'a'], ['ada', 'a'])
    first?.()
    first?.()
    expect(attempt(limit, 'ada', 'a')).not.toThrow()
    expect(attempt(limit, 'ada', 'a')).toThrow(expect.objectContaining(REJECTED))
  })
})
