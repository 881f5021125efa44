/** Rows of a page. */
export const PAGE_ROWS = 50

/** Rows before and after the visible ones that are loaded while one scrolls. */
const ROWS_AHEAD = 25

/** Pages that a list keeps; a thumb that wanders over a million rows must not take the memory of the browser. */
const MAX_PAGES = 60

/** A thumb that has rested so long has landed. */
const LANDED_MS = 50

/** Where a page begins: at a number of rows, or beside a page that is there. */
export type PagePlace =
  | { page: number; pageSize: number }
  | { first: number; after: string }
  | { last: number; before: string }

/** A page that was loaded. `release` lets go of what the store keeps for it. */
export type LoadedPage<Row> = {
  rows: readonly Row[]
  startCursor: string | null | undefined
  endCursor: string | null | undefined
  hasNextPage: boolean
  release: () => void
}

export type LoadPage<Row> = (place: PagePlace) => Promise<LoadedPage<Row>>

/**
 * The rows of a list that were shown. A page beside one that is there continues it by its cursor, so that rows that came or went
 * meanwhile shift nothing; the others are read by their number. The pages that were shown last are kept.
 */
export class ListPages<Row> {
  readonly #load: LoadPage<Row>
  readonly #pages = new Map<number, LoadedPage<Row>>()
  readonly #loading = new Set<number>()
  readonly #listeners = new Set<() => void>()
  #wanted: readonly number[] = []
  #timer: ReturnType<typeof setTimeout> | undefined
  #isReleased = false
  /** The number of rows. */
  total: number
  /** Why a page is missing. */
  problem: Error | null = null
  /** Changes with the rows. */
  version = 0

  constructor(total: number, load: LoadPage<Row>) {
    this.total = total
    this.#load = load
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  getRow(index: number): Row | undefined {
    return this.#pages.get(Math.floor(index / PAGE_ROWS))?.rows[index % PAGE_ROWS]
  }

  /** The rows that are there, in no order. */
  *rows(): Generator<Row> {
    for (const { rows } of this.#pages.values()) yield* rows
  }

  /** Loads what is missing of these rows, and then of those next to them. */
  show(from: number, to: number): void {
    this.#want(from, to)
    if (this.#listMissing().length === 0) this.#want(Math.max(from - ROWS_AHEAD, 0), to + ROWS_AHEAD)
    for (const page of this.#wanted) {
      const loaded = this.#pages.get(page)
      if (!loaded) continue
      this.#pages.delete(page)
      this.#pages.set(page, loaded)
    }
    clearTimeout(this.#timer)
    const missing = this.#listMissing()
    if (missing.some((page) => this.#pages.has(page - 1) || this.#pages.has(page + 1))) this.#loadMissing()
    else if (missing.length > 0) this.#timer = setTimeout(() => this.#loadMissing(), LANDED_MS)
  }

  retry(): void {
    this.problem = null
    this.#notify()
    this.#loadMissing()
  }

  add(page: number, loaded: LoadedPage<Row>): void {
    if (this.#isReleased) {
      loaded.release()
      return
    }
    this.#pages.set(page, loaded)
    // The list has become shorter or longer since it was counted.
    const end = page * PAGE_ROWS + loaded.rows.length
    if (loaded.hasNextPage) this.total = Math.max(this.total, end)
    else this.total = loaded.rows.length > 0 ? end : Math.min(this.total, end)
    for (const [number, old] of this.#pages) {
      if (this.#pages.size <= MAX_PAGES) break
      if (this.#wanted.includes(number)) continue
      this.#pages.delete(number)
      old.release()
    }
    this.#notify()
  }

  release(): void {
    this.#isReleased = true
    clearTimeout(this.#timer)
    for (const page of this.#pages.values()) page.release()
    this.#pages.clear()
  }

  #want(from: number, to: number): void {
    const [first, last] = [Math.floor(from / PAGE_ROWS), Math.floor(Math.max(to - 1, from) / PAGE_ROWS)]
    this.#wanted = Array.from({ length: last - first + 1 }, (_, index) => first + index)
  }

  #listMissing(): number[] {
    return this.#wanted.filter((page) => !this.#pages.has(page) && page * PAGE_ROWS < this.total)
  }

  #loadMissing(): void {
    if (this.problem !== null) return
    for (const page of this.#listMissing()) if (!this.#loading.has(page)) void this.#loadPage(page)
  }

  #findPlace(page: number): PagePlace {
    const { endCursor } = this.#pages.get(page - 1) ?? {}
    if (endCursor) return { first: PAGE_ROWS, after: endCursor }
    const { startCursor } = this.#pages.get(page + 1) ?? {}
    if (startCursor) return { last: PAGE_ROWS, before: startCursor }
    return { page, pageSize: PAGE_ROWS }
  }

  async #loadPage(page: number): Promise<void> {
    this.#loading.add(page)
    try {
      const place = this.#findPlace(page)
      const loaded = await this.#load(place)
      if ('last' in place && loaded.rows.length < PAGE_ROWS) {
        // Rows before it are gone, so that the list begins in the midst of the page.
        loaded.release()
        this.add(page, await this.#load({ page, pageSize: PAGE_ROWS }))
      } else this.add(page, loaded)
    } catch (error) {
      this.problem = error as Error
      this.#notify()
    } finally {
      this.#loading.delete(page)
    }
  }

  #notify(): void {
    this.version += 1
    for (const listener of this.#listeners) listener()
  }
}
