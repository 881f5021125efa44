/** Pseudorandom numbers, the same for the same seed (mulberry32). */
export type Random = {
  /** At least 0 and less than 1. */
  next: () => number
  int: (below: number) => number
  chance: (probability: number) => boolean
  pick: <Item>(items: readonly Item[]) => Item
  bytes: (length: number) => Buffer
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const uint32 = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return (t ^ (t >>> 14)) >>> 0
  }
  const next = () => uint32() / 2 ** 32
  const int = (below: number) => Math.floor(next() * below)
  return {
    next,
    int,
    chance: (probability) => next() < probability,
    pick: (items) => items[int(items.length)] as (typeof items)[number],
    bytes: (length) => {
      const bytes = Buffer.allocUnsafe(length)
      for (let at = 0; at < length; at++) bytes[at] = uint32() & 255
      return bytes
    },
  }
}
