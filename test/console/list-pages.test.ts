import { describe, expect, test, vi } from 'vitest'
import { ListPages, type LoadedPage, type PagePlace } from '../../console/src/parts/list-pages.ts'

/** A list of numbers whose cursors are the numbers themselves, as a server has it. */
class Numbers {
  readonly asked: PagePlace[] = []
  readonly released: number[] = []

  rows: number[]

  constructor(rows: number[]) {
    this.rows = rows
  }

  readonly load = async (place: PagePlace): Promise<LoadedPage<number>> => {
    this.asked.push(place)
    const find = (cursor: string) => this.rows.indexOf(Number(cursor))
    const end = 'last' in place ? find(place.before) : 0
    const [from, to] =
      'page' in place
        ? [place.page * place.pageSize, (place.page + 1) * place.pageSize]
        : 'first' in place
          ? [find(place.after) + 1, find(place.after) + 1 + place.first]
          : [Math.max(end - place.last, 0), end]
    const rows = this.rows.slice(from, to)
    return {
      rows,
      startCursor: rows.length > 0 ? String(rows[0]) : null,
      endCursor: rows.length > 0 ? String(rows.at(-1)) : null,
      hasNextPage: to < this.rows.length,
      release: () => this.released.push(rows[0] ?? -1),
    }
  }
}

const count = (size: number): number[] => Array.from({ length: size }, (_, index) => index)

async function openPages(rows: number[]) {
  const numbers = new Numbers(rows)
  const pages = new ListPages(rows.length, numbers.load)
  pages.add(0, await numbers.load({ page: 0, pageSize: 50 }))
  numbers.asked.length = 0
  return { numbers, pages }
}

const waitForRow = (pages: ListPages<number>, index: number) =>
  vi.waitFor(() => expect(pages.getRow(index)).toBeDefined(), { interval: 5 })

describe('the pages of a list', () => {
  test('are read by number where the thumb lands, and by cursor beside those that are there', async () => {
    const { numbers, pages } = await openPages(count(100_000))
    pages.show(50_010, 50_030)
    await waitForRow(pages, 50_020)
    pages.show(50_040, 50_060)
    await waitForRow(pages, 50_059)
    pages.show(49_990, 50_010)
    await waitForRow(pages, 49_990)
    expect(numbers.asked).toEqual([
      { page: 1000, pageSize: 50 },
      { first: 50, after: '50049' },
      { last: 50, before: '50000' },
    ])
    expect([49_990, 50_020, 50_059].map((index) => pages.getRow(index))).toEqual([49_990, 50_020, 50_059])
  })

  test('are not read on the way of a thumb that moves on', async () => {
    const { numbers, pages } = await openPages(count(100_000))
    for (let row = 10_000; row < 90_000; row += 10_000) pages.show(row, row + 20)
    await waitForRow(pages, 80_010)
    expect(numbers.asked).toEqual([{ page: 1600, pageSize: 50 }])
  })

  test('continue each other although rows came before them', async () => {
    const { numbers, pages } = await openPages(count(1000))
    numbers.rows = [-3, -2, -1, ...numbers.rows]
    pages.show(40, 60)
    await waitForRow(pages, 59)
    expect([49, 50].map((index) => pages.getRow(index))).toEqual([49, 50])
  })

  test('are read by number when rows before them are gone', async () => {
    const numbers = new Numbers(count(1000))
    const pages = new ListPages(1000, numbers.load)
    pages.show(100, 120)
    await waitForRow(pages, 100)
    numbers.rows = numbers.rows.slice(60)
    pages.show(60, 80)
    await waitForRow(pages, 60)
    expect(numbers.asked.slice(1)).toEqual([
      { last: 50, before: '100' },
      { page: 1, pageSize: 50 },
    ])
  })

  test('stay while one scrolls back, and are bounded', async () => {
    const { numbers, pages } = await openPages(count(100_000))
    for (let row = 0; row < 5000; row += 50) {
      pages.show(row, row + 50)
      await waitForRow(pages, row)
    }
    expect([...pages.rows()].length).toBeLessThanOrEqual(3000)
    expect(numbers.released.length).toBeGreaterThanOrEqual(40)
    const asked = numbers.asked.length
    pages.show(4000, 4050)
    expect(pages.getRow(4020)).toBe(4020)
    expect(numbers.asked).toHaveLength(asked)
  })

  test('shorten the list when its end comes earlier', async () => {
    const { numbers, pages } = await openPages(count(1000))
    numbers.rows = count(930)
    pages.show(940, 960)
    await vi.waitFor(() => expect(pages.total).toBe(930), { interval: 5 })
  })

  test('say why rows are missing, and are read again on demand', async () => {
    let isDown = true
    const numbers = new Numbers(count(1000))
    const pages = new ListPages<number>(1000, (place) =>
      isDown ? Promise.reject(new Error('Not now.')) : numbers.load(place),
    )
    pages.show(0, 20)
    await vi.waitFor(() => expect(pages.problem?.message).toBe('Not now.'), { interval: 5 })
    isDown = false
    pages.retry()
    await waitForRow(pages, 10)
    expect(pages.problem).toBeNull()
  })
})
