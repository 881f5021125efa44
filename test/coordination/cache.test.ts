import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createCache } from '../../src/coordination/cache.ts'

/** A cache with counted loads. */
function newCache(name: string, read: () => Promise<{ value: number } | null>) {
  let loads = 0
  const cache = createCache(name, () => {
    loads += 1
    return read()
  })
  return { ...cache, loads: () => loads }
}

/** Lets time pass for timers and for ages. Returns the function that lets it pass. */
function controlTime(): (ms: number) => Promise<unknown> {
  let now = performance.now()
  vi.spyOn(performance, 'now').mockImplementation(() => now)
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  onTestFinished(() => {
    vi.useRealTimers()
    vi.restoreAllMocks()
  })
  return (ms) => {
    now += ms
    return vi.advanceTimersByTimeAsync(ms)
  }
}

describe('a cache', () => {
  test('loads a value once for concurrent readers and keeps it', async () => {
    const cache = newCache('shared', async () => ({ value: 1 }))
    await Promise.all(Array.from({ length: 50 }, () => cache.get('acme', 'a')))
    await cache.get('acme', 'a')
    expect(cache.loads()).toBe(1)
    await cache.get('other', 'a')
    expect(cache.loads()).toBe(2)
  })

  test('loads a value again after a second', async () => {
    const cache = newCache('age', async () => ({ value: 1 }))
    await cache.get('acme', 'a')
    vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 1010)
    onTestFinished(() => void vi.restoreAllMocks())
    await cache.get('acme', 'a')
    expect(cache.loads()).toBe(2)
  })

  test('loads a value in use again before it has expired, while readers get the last one', async () => {
    const pass = controlTime()
    let stored: { value: number } | null = { value: 1 }
    const cache = newCache('reload', async () => stored)
    await cache.get('acme', 'a')
    stored = { value: 2 }
    await pass(750)
    expect(await Promise.all([cache.get('acme', 'a'), cache.get('acme', 'a')])).toEqual([
      { value: 1 },
      { value: 1 },
    ])
    await pass(50)
    expect(cache.loads()).toBe(2)
    expect(await cache.get('acme', 'a')).toEqual({ value: 2 })
    stored = null
    await pass(750)
    await cache.get('acme', 'a')
    await pass(50)
    expect(await cache.get('acme', 'a')).toBeNull()
  })

  test('keeps a value that cannot be loaded again until it is a second old', async () => {
    const pass = controlTime()
    let fails = false
    const cache = newCache('away', async () => {
      if (fails) throw new Error('the database is away')
      return { value: 1 }
    })
    await cache.get('acme', 'a')
    fails = true
    await pass(750)
    await cache.get('acme', 'a')
    await pass(50)
    expect(await cache.get('acme', 'a')).toEqual({ value: 1 })
    await pass(201)
    await expect(cache.get('acme', 'a')).rejects.toThrow('the database is away')
  })

  test('does not keep null', async () => {
    const cache = newCache('null', async () => null)
    expect([await cache.get('acme', 'a'), await cache.get('acme', 'a')]).toEqual([null, null])
    expect(cache.loads()).toBe(2)
  })

  test.each([{ value: 1 }, null])(
    'returns a load that an invalidation has overtaken and does not keep it (%o)',
    async (old) => {
      let release = () => {}
      const released = new Promise<void>((resolve) => {
        release = resolve
      })
      let stored = old
      const cache = newCache(`overtaken-${old === null}`, async () => {
        const read = stored
        await released
        return read
      })
      const early = cache.get('acme', 'a')
      stored = { value: 2 }
      cache.invalidate('acme', 'a')
      const late = cache.get('acme', 'a')
      release()
      expect(await early).toEqual(old)
      expect(await late).toEqual({ value: 2 })
      expect(await cache.get('acme', 'a')).toEqual({ value: 2 })
      expect(cache.loads()).toBe(2)
    },
  )

  test('rejects when a load fails and loads again the next time', async () => {
    let fails = true
    const cache = newCache('failing', async () => {
      if (fails) throw new Error('the database is away')
      return { value: 1 }
    })
    await expect(cache.get('acme', 'a')).rejects.toThrow('the database is away')
    fails = false
    expect(await cache.get('acme', 'a')).toEqual({ value: 1 })
  })
})
