import { expect } from 'vitest'
import type { Ctx } from '../../src/context/context.ts'
import type { ListArgs, Page } from '../../src/schema/page.ts'
import { listUsers } from '../../src/users/list/user-list.ts'

export const toIds = ({ rows }: Pick<Page<{ id: string }>, 'rows'>): string[] => rows.map(({ id }) => id)

/** The ids of all pages by cursor, forward or backward; each page begins where the previous one ended. */
export async function walkByCursor(
  ctx: Ctx,
  args: ListArgs,
  size: number,
  backward = false,
): Promise<string[]> {
  let ids: string[] = []
  let cursor: string | undefined
  for (let turn = 0; turn < 100; turn += 1) {
    const page = await listUsers(
      ctx,
      backward ? { ...args, last: size, before: cursor } : { ...args, first: size, after: cursor },
    )
    expect(page.rows.length).toBeLessThanOrEqual(size)
    expect(backward ? page.hasNextPage : page.hasPreviousPage).toBe(cursor !== undefined)
    ids = backward ? [...toIds(page), ...ids] : [...ids, ...toIds(page)]
    if (!(backward ? page.hasPreviousPage : page.hasNextPage)) return ids
    const edge = backward ? page.rows.at(0) : page.rows.at(-1)
    if (!edge) throw new Error('an empty page has a next page')
    cursor = page.encodeRowCursor(edge)
  }
  throw new Error('the list has no end')
}
