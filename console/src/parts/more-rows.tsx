import { useEffect, useRef } from 'react'
import { t } from '../words/words.ts'

/** Rows that a list begins with, and that each further page has. */
export const PAGE_SIZE = 50
/** The API has as many rows in one answer. */
export const MAX_ROWS = 1000

/** How many rows a list reads again that has loaded so many. */
export const countPage = (loaded = 0): number => Math.min(Math.max(loaded, PAGE_SIZE), MAX_ROWS)

/** Loads the next page when the end of the list comes near. The button is for those who do not scroll. */
export function MoreRows({
  hasMore,
  isLoading,
  load,
}: {
  hasMore: boolean
  isLoading: boolean
  load: () => void
}) {
  const end = useRef<HTMLDivElement>(null)
  const next = useRef(load)
  next.current = load
  useEffect(() => {
    const element = end.current
    if (!hasMore || isLoading || !element) return
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (entry?.isIntersecting) next.current()
      },
      { rootMargin: '600px' },
    )
    observer.observe(element)
    return () => observer.disconnect()
  }, [hasMore, isLoading])
  if (!hasMore) return null
  return (
    <div ref={end} className="more">
      <button type="button" className="button quiet" disabled={isLoading} onClick={load}>
        {isLoading ? t('Loading…') : t('Load more')}
      </button>
    </div>
  )
}
