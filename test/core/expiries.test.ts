import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Expiries } from '../../src/core/expiries.ts'

const START = Date.UTC(2026, 0, 1)
const DAY_MS = 86_400_000
const at = (ms: number) => new Date(START + ms)

describe('items that expire', () => {
  let ended: string[]
  let expiries: Expiries<string>
  beforeEach(() => {
    vi.useFakeTimers({ now: START })
    ended = []
    expiries = new Expiries((item) => ended.push(item))
  })
  afterEach(() => void vi.useRealTimers())

  test('in the same second share a timer, and end at its end', () => {
    expiries.add('a', at(1200))
    expiries.add('b', at(2000))
    expect(vi.getTimerCount()).toBe(1)
    vi.advanceTimersByTime(1999)
    expect(ended).toEqual([])
    vi.advanceTimersByTime(1)
    expect(ended).toEqual(['a', 'b'])
    expect(vi.getTimerCount()).toBe(0)
  })

  test('end in the order of their seconds, and at once when they have expired already', () => {
    expiries.add('late', at(5000))
    expiries.add('early', at(2000))
    expiries.add('past', at(-1000))
    vi.advanceTimersByTime(1)
    expect(ended).toEqual(['past'])
    vi.advanceTimersByTime(5000)
    expect(ended).toEqual(['past', 'early', 'late'])
  })

  test('do not end after they are removed, and leave no timer', () => {
    const second = expiries.add('a', at(2000))
    expiries.add('b', at(2000))
    expiries.delete('a', second)
    vi.advanceTimersByTime(2000)
    expect(ended).toEqual(['b'])
    expiries.delete('b', second)
    expiries.delete('c', expiries.add('c', at(9000)))
    expect(vi.getTimerCount()).toBe(0)
  })

  test('may expire later than the maximum delay of a timer', () => {
    expiries.add('a', at(40 * DAY_MS))
    vi.advanceTimersByTime(40 * DAY_MS - 1)
    expect(ended).toEqual([])
    vi.advanceTimersByTime(1)
    expect(ended).toEqual(['a'])
  })
})
