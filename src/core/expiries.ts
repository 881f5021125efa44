/** The maximum delay of setTimeout: 31 bits. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1

type Second<Item> = { items: Set<Item>; timer: NodeJS.Timeout | undefined }

/** Ends items when they expire. Items that expire in the same second share one timer. */
export class Expiries<Item> {
  readonly #seconds = new Map<number, Second<Item>>()
  readonly #expire: (item: Item) => void

  constructor(expire: (item: Item) => void) {
    this.#expire = expire
  }

  /** Ends the item at `at`, rounded up to a second. Returns that second, for `delete`. */
  add(item: Item, at: Date): number {
    const key = Math.ceil(at.getTime() / 1000)
    let second = this.#seconds.get(key)
    if (!second) {
      second = { items: new Set(), timer: undefined }
      this.#seconds.set(key, second)
      this.#arm(key, second)
    }
    second.items.add(item)
    return key
  }

  delete(item: Item, key: number): void {
    const second = this.#seconds.get(key)
    if (!second?.items.delete(item) || second.items.size > 0) return
    clearTimeout(second.timer)
    this.#seconds.delete(key)
  }

  #arm(key: number, second: Second<Item>): void {
    const delay = Math.min(key * 1000 - Date.now(), MAX_TIMEOUT_MS)
    second.timer = setTimeout(() => {
      if (Date.now() < key * 1000) return this.#arm(key, second)
      this.#seconds.delete(key)
      for (const item of second.items) this.#expire(item)
    }, delay)
    second.timer.unref()
  }
}
