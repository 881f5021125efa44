import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { OpenAnswer } from '../../src/coordination/answers.ts'
import { createHoldLimit } from '../../src/coordination/hold-limits.ts'

const REJECTED = { code: 'RATE_LIMITED', status: 429, headers: { 'retry-after': '10' } }

describe('a limit of what is open at once', () => {
  let addresses = 0
  const createLimit = () => createHoldLimit('sockets', { caller: 2, site: 3, tenant: 3, process: 4 })
  const hold = (limit: ReturnType<typeof createLimit>, ...holders: [caller: string, tenant: string][]) =>
    holders.map(([caller, tenant]) => limit.hold({ caller, tenant, ip: `192.0.2.${++addresses}` }))
  const attempt = (limit: ReturnType<typeof createLimit>, caller: string, tenant: string) => () =>
    limit.hold({ caller, tenant, ip: `192.0.2.${++addresses}` })

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

  test('of amounts leaves each caller half of what the others of its tenant do not hold', () => {
    const limit = createHoldLimit(
      'bytes',
      { caller: 500, site: 2000, tenant: 1000, process: 4000 },
      { leavesHalf: true },
    )
    const take = (caller: string, amount: number, tenant = 'a') => {
      try {
        return limit.hold({ caller, tenant, ip: `192.0.2.${++addresses}` }, amount)
      } catch {
        return null
      }
    }
    /** Takes all that a caller can take, in parts. */
    const takeAll = (caller: string) => {
      let held = 0
      for (const part of [100, 10, 1]) while (take(caller, part)) held += part
      return held
    }
    expect(['ada', 'bea', 'eve', 'kim', 'lee'].map(takeAll)).toEqual([500, 250, 125, 62, 31])
    expect(take('new', 17)).toBeNull()
    const release = take('new', 16)
    expect(release).not.toBeNull()
    expect(take('bob', 500, 'b')).not.toBeNull()
    release?.()
    expect(take('new', 16)).not.toBeNull()
  })

  test('counts an IPv6 /48 and an IPv4 address as one network, over all tenants', () => {
    for (const [own, others] of [
      [(index: number) => `2001:db8:7:${index}::1`, '2001:db8:8::1'],
      [(index: number) => (index % 2 ? '192.0.2.7' : '::ffff:192.0.2.7'), '192.0.2.8'],
    ] as const) {
      const limit = createHoldLimit('sockets', { caller: 2, site: 3, tenant: 9, process: 9 })
      const holdFrom = (index: number, ip: string) =>
        limit.hold({ caller: `caller${index}`, tenant: `tenant${index}`, ip })
      for (let index = 0; index < 3; index += 1) holdFrom(index, own(index))
      expect(() => holdFrom(3, own(3))).toThrow('Too many sockets: 3 may be open at once for one network.')
      expect(() => holdFrom(3, others)).not.toThrow()
    }
  })
})

describe('a limit that shrinks', () => {
  const LIMITS = { caller: 50, site: 100, tenant: 250, process: 500 }
  const createShrinking = () => createHoldLimit('sockets', LIMITS, { shrinks: true })

  /** Takes all that networks can take, in turns; returns the number that they hold. */
  function takeAll(limit: ReturnType<typeof createShrinking>, networks: number, tenants: number): number {
    let held = 0
    for (let round = 0; round < LIMITS.caller; round += 1)
      for (let index = 0; index < networks; index += 1)
        try {
          const ip = `2001:db8:${index.toString(16)}::1`
          limit.hold({ caller: ip, tenant: `tenant${index % tenants}`, ip })
          held += 1
        } catch {}
    return held
  }

  test('leaves a network its whole limit while half of the process is free', () => {
    expect(takeAll(createShrinking(), 1, 1)).toBe(LIMITS.caller)
    expect(takeAll(createShrinking(), 4, 2)).toBe(4 * LIMITS.caller)
  })

  test.for([
    [10, 2],
    [50, 5],
    [100, 100],
  ])(
    'accepts a network that holds none while %i networks take all that they can in %i tenants',
    ([networks = 0, tenants = 0]) => {
      const limit = createShrinking()
      expect(takeAll(limit, networks, tenants)).toBeLessThan(LIMITS.process)
      for (const tenant of ['tenant0', 'another'])
        expect(() => limit.hold({ caller: 'new', tenant, ip: '192.0.2.1' })).not.toThrow()
    },
  )

  test('accepts a tenant that holds none while others take all that they can', () => {
    const limit = createShrinking()
    takeAll(limit, 200, 3)
    expect(() => limit.hold({ caller: 'new', tenant: 'another', ip: '192.0.2.1' })).not.toThrow()
  })
})

describe('an answer', () => {
  const ctx = createPlatformCtx('answers')
  const LARGE_BYTES = 16_000_000

  test.for<[when: string, isGone: boolean]>([
    ['before', false],
    ['after', true],
  ])('that is counted %s its client is gone is counted no more', ([_when, isGone]) => {
    for (let round = 0; round < 20; round += 1) {
      const answer = new OpenAnswer(ctx)
      const response = new ServerResponse(new IncomingMessage(new Socket()))
      answer.closeWith(response)
      if (!isGone) answer.growTo(LARGE_BYTES, false)
      response.destroy().emit('close')
      if (isGone) answer.growTo(LARGE_BYTES, false)
    }
    expect(() => new OpenAnswer(ctx).requireRoom()).not.toThrow()
  })
})
