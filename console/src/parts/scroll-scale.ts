/** Browsers cut elements between 16 and 33 million pixels, and lose single pixels before. */
const MAX_HEIGHT = 6_000_000

/** At both ends of the list, a pixel of the scrollbar is a pixel of the list. */
const END_HEIGHT = 200_000

/** Between the position of a scrollbar and that in a list that may be too high for an element. */
export type ScrollScale = {
  /** The height of the element that is scrolled. */
  height: number
  /** The largest distance of the first visible pixel from the start of the list. */
  maxTop: number
  /** The distance in the list where the thumb lands. */
  toTop: (scrollTop: number) => number
  /** Where the thumb belongs. */
  toScrollTop: (top: number) => number
  /** The movement of the scrollbar of a single pixel of the thumb. */
  step: number
}

export function createScrollScale(total: number, viewport: number): ScrollScale {
  const height = Math.min(total, MAX_HEIGHT)
  const maxTop = Math.max(total - viewport, 0)
  const maxScrollTop = Math.max(height - viewport, 0)
  const isScaled = total > height
  const factor = isScaled ? (maxTop - 2 * END_HEIGHT) / (maxScrollTop - 2 * END_HEIGHT) : 1
  const convert = (from: number, fromMax: number, toMax: number, by: number): number => {
    if (from <= END_HEIGHT) return from
    return fromMax - from <= END_HEIGHT ? toMax - (fromMax - from) : END_HEIGHT + (from - END_HEIGHT) * by
  }
  return {
    height,
    maxTop,
    toTop: (scrollTop) => Math.round(convert(scrollTop, maxScrollTop, maxTop, factor)),
    toScrollTop: (top) => Math.round(convert(top, maxTop, maxScrollTop, 1 / factor)),
    step: viewport > 0 ? height / viewport : 0,
  }
}

/** A position of the scrollbar, and the one in the list that belongs to it. */
export type ScrollPlace = { scrollTop: number; top: number }

/**
 * The place after the scrollbar has moved. A wheel, a finger or a key moves the list as far as the scrollbar; the thumb lands
 * where the scale says.
 */
export function moveWithScrollbar(scale: ScrollScale, former: ScrollPlace, scrollTop: number): ScrollPlace {
  const moved = scrollTop - former.scrollTop
  if (scrollTop <= 0) return { scrollTop, top: 0 }
  if (moved > 0 && scale.toTop(scrollTop) >= scale.maxTop) return { scrollTop, top: scale.maxTop }
  const top = Math.abs(moved) > scale.step / 2 ? scale.toTop(scrollTop) : former.top + moved
  return { scrollTop, top: Math.min(Math.max(top, 0), scale.maxTop) }
}
