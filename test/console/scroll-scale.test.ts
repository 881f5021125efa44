import { describe, expect, test } from 'vitest'
import {
  createScrollScale,
  moveWithScrollbar,
  type ScrollPlace,
} from '../../console/src/parts/scroll-scale.ts'

const VIEWPORT = 800
const LARGE = 44_000_000
const scale = createScrollScale(LARGE, VIEWPORT)
const maxScrollTop = scale.height - VIEWPORT

describe('the scale of a scrollbar', () => {
  test('is that of the list while an element can be as high', () => {
    const small = createScrollScale(44_000, VIEWPORT)
    expect([small.height, small.maxTop, small.toTop(12_345), small.toScrollTop(12_345)]).toEqual([
      44_000, 43_200, 12_345, 12_345,
    ])
    expect(createScrollScale(440, VIEWPORT)).toMatchObject({ height: 440, maxTop: 0 })
  })

  test('reaches both ends and the middle of a list that is higher than an element', () => {
    expect(scale.height).toBeLessThan(16_000_000)
    expect([0, maxScrollTop / 2, maxScrollTop].map(scale.toTop)).toEqual([
      0,
      (LARGE - VIEWPORT) / 2,
      LARGE - VIEWPORT,
    ])
  })

  test('leads every place of the thumb to one of the list and back', () => {
    let former = -1
    for (let scrollTop = 0; scrollTop <= maxScrollTop; scrollTop += 997) {
      const top = scale.toTop(scrollTop)
      expect(top).toBeGreaterThan(former)
      expect(scale.toScrollTop(top)).toBe(scrollTop)
      former = top
    }
  })

  test('is that of the list at both ends, so that a wheel reaches the first and the last row', () => {
    for (const distance of [0, 1, 5000, 200_000]) {
      expect(scale.toTop(distance)).toBe(distance)
      expect(scale.toTop(maxScrollTop - distance)).toBe(scale.maxTop - distance)
    }
  })
})

describe('a list that is moved by its scrollbar', () => {
  const at = (top: number): ScrollPlace => ({ top, scrollTop: scale.toScrollTop(top) })
  const middle = at(20_000_000)

  test.for([100, -100, 3000])('moves by the %i pixels of a wheel', (moved) => {
    expect(moveWithScrollbar(scale, middle, middle.scrollTop + moved).top).toBe(20_000_000 + moved)
  })

  test('moves to where the thumb lands', () => {
    expect(moveWithScrollbar(scale, middle, 1_000_000).top).toBe(scale.toTop(1_000_000))
  })

  test.for([
    [at(100), 0, 0],
    [at(100), -20, 0],
    [at(LARGE - 900), maxScrollTop, scale.maxTop],
    [{ top: 50, scrollTop: 500 }, 400, 0],
  ] as const)('ends at the ends of the list', ([former, scrollTop, top]) => {
    expect(moveWithScrollbar(scale, former, scrollTop).top).toBe(top)
  })
})
