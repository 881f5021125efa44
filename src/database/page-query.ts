import type { Workload } from '../core/workload.ts'
import { type Page, type PageArgs, type Paging, parsePaging, toPage } from '../schema/page.ts'

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

/**
 * Lists rows in the order of a column that identifies them: one statement, and another for totalSize. Cursors are bound to
 * `name`, which has the tenant. `read` gets the Prisma arguments of the page. Throws InvalidInput about the paging.
 */
export async function listInOrder<Column extends string, Row extends { [Name in Column]: string }>(
  workload: Workload,
  args: PageArgs,
  {
    name,
    column,
    read,
    countAll,
  }: {
    name: string
    column: Column
    read: (page: ReturnType<typeof buildPageQuery<Column>>) => Promise<Row[]>
    countAll: () => Promise<number>
  },
): Promise<Page<Row>> {
  const paging = parsePaging(workload, args, name)
  const rows = await read(buildPageQuery(paging, column))
  return toPage(paging, rows, {
    name,
    toKey: (row) => ({ value: null, id: row[column] }),
    countAll,
  })
}
