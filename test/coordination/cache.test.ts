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
