import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createCache } from '../src/cache.ts'

/** A cache over `stored`, whose loads take as long as the test wants. */
function cacheOf(name: string, read: () => Promise<{ value: number } | null>) {
  let loads = 0
  const cache = createCache(name, () => {
    loads += 1
    return read()
  })
  return { ...cache, loads: () => loads }
}

describe('a cache of things of a tenant', () => {
  it('shares one load among concurrent readers and keeps it', async () => {
    const cache = cacheOf('shared', async () => ({ value: 1 }))
    await Promise.all(Array.from({ length: 50 }, () => cache.get('acme', 'a')))
    await cache.get('acme', 'a')
    expect(cache.loads()).toBe(1)
    await cache.get('other', 'a')
    expect(cache.loads()).toBe(2)
  })

  it('reads anew after a second, whatever the bus does', async () => {
    const cache = cacheOf('age', async () => ({ value: 1 }))
    await cache.get('acme', 'a')
    await sleep(1010)
    await cache.get('acme', 'a')
    expect(cache.loads()).toBe(2)
  })

  it('does not keep what is not there', async () => {
    const cache = cacheOf('null', async () => null)
    expect([await cache.get('acme', 'a'), await cache.get('acme', 'a')]).toEqual([null, null])
    expect(cache.loads()).toBe(2)
  })

  it.each([{ value: 1 }, null])(
    'answers readers whose load an invalidation overtakes, and keeps nothing of it (%o)',
    async (old) => {
      let stored = old
      const cache = cacheOf(`overtaken-${old === null}`, async () => {
        const read = stored
        await sleep(30)
        return read
      })
      const early = cache.get('acme', 'a')
      await sleep(10)
      stored = { value: 2 }
      cache.invalidate('acme', 'a')
      const late = cache.get('acme', 'a')
      expect(await early).toEqual(old)
      expect(await late).toEqual({ value: 2 })
      expect(await cache.get('acme', 'a')).toEqual({ value: 2 })
      expect(cache.loads()).toBe(2)
    },
  )

  it('hands on the failure of a load and tries again next time', async () => {
    let fails = true
    const cache = cacheOf('failing', async () => {
      if (fails) throw new Error('the database is away')
      return { value: 1 }
    })
    await expect(cache.get('acme', 'a')).rejects.toThrow('the database is away')
    fails = false
    expect(await cache.get('acme', 'a')).toEqual({ value: 1 })
  })
})
