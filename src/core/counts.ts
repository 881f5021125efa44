/** How many of a key are open. */
export type Count = { readonly key: string; open: number }

/** Counts what is open by key. Those who hold a count refer to one text, however often the key was made. */
export class Counts {
  readonly #counts = new Map<string, Count>()

  /** The number that is open of a key. */
  get(key: string): number {
    return this.#counts.get(key)?.open ?? 0
  }

  /** Counts more, until the count is passed to `subtract`. */
  add(key: string, amount = 1): Count {
    let count = this.#counts.get(key)
    if (!count) {
      count = { key, open: 0 }
      this.#counts.set(key, count)
    }
    count.open += amount
    return count
  }

  subtract(count: Count, amount = 1): void {
    count.open -= amount
    if (count.open <= 0) this.#counts.delete(count.key)
  }
}
