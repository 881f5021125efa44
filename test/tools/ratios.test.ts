import { describe, expect, test } from 'vitest'
import { computeRatio, findWorse, formatRatios } from '../../tools/bench/ratios.ts'

const round = (ours: number, floor: number, ourDatabase = 1, floorDatabase = 1) => ({
  ours: { server: ours, database: ourDatabase },
  floor: { server: floor, database: floorDatabase },
})

describe('computeRatio', () => {
  test('is the median of the rounds, each divided by the floor of the same round', () => {
    expect(computeRatio([round(2, 1), round(9, 3), round(40, 10)])).toEqual({ server: 3, database: 1 })
    expect(computeRatio([round(1, 1, 3, 2)])).toEqual({ server: 1, database: 1.5 })
  })

  test('has no ratio of the database where the floor does not ask it', () => {
    expect(computeRatio([round(2, 1, 0, 0)]).database).toBeNull()
    expect(computeRatio([round(2, 1, 1, 0)]).database).toBeNull()
  })
})

describe('findWorse', () => {
  const baseline = { a: { server: 2, database: 1 }, b: { server: 1, database: null } }

  test('names the operations that cost more than 10 % more than in the baseline', () => {
    const of = (server: number, database: number | null) => findWorse({ a: { server, database } }, baseline)
    expect(of(2.2, 1.1)).toEqual([])
    expect(of(2.21, 1)).toEqual(['a'])
    expect(of(1, 1.2)).toEqual(['a'])
    expect(of(1, null)).toEqual([])
  })

  test('does not compare operations that the baseline does not have', () => {
    expect(findWorse({ c: { server: 9, database: 9 } }, baseline)).toEqual([])
  })
})

test('formatRatios shows the ratios beside the baseline and marks what became worse', () => {
  const ratios = { a: { server: 2.5, database: 1 }, b: { server: 1, database: null } }
  const lines = formatRatios(ratios, { a: { server: 2, database: 1 } }).split('\n')
  expect(lines).toHaveLength(3)
  expect(lines[1]).toMatch(/^a +2\.50 +2\.00 +1\.00 +1\.00 +worse by more than 10 %$/)
  expect(lines[2]).toMatch(/^b +1\.00 +– +– +–$/)
})
