import type { Paging } from '../schema/page.ts'

/**
 * Prisma arguments of a page for a list in the order of its id column. They read one row more than the page,
 * which shows whether rows follow.
 */
export function buildPageQuery<Column extends string>(paging: Paging, column: Column, descending = false) {
  const isDown = descending !== (paging.mode === 'cursor' && paging.backward)
  const seek = paging.mode === 'cursor' ? paging.seek : null
  return {
    where: (seek ? { [column]: isDown ? { lt: seek.id } : { gt: seek.id } } : {}) as {
      [Name in Column]?: { lt: string } | { gt: string }
    },
    orderBy: { [column]: isDown ? 'desc' : 'asc' } as Record<Column, 'asc' | 'desc'>,
    skip: paging.mode === 'offset' ? paging.page * paging.pageSize : 0,
    take: paging.pageSize + 1,
  }
}
