import { describe, expect } from 'vitest'
import type { User } from '../../src/generated/prisma/client.ts'
import type { ListArgs } from '../../src/schema/page.ts'
import { listUsers } from '../../src/users/list/user-list.ts'
import { createUser, deleteUser } from '../../src/users/users.ts'
import { test } from '../support/tenant-per-test.ts'
import { toIds, walkByCursor } from '../support/user-pages.ts'

describe('a cursor of a list of users', () => {
  test.for<ListArgs>([
    {},
    { orderBy: 'name' },
    { orderBy: 'lastSeenAt', direction: 'desc' },
    { filter: { search: 'person' } },
    { filter: { locked: false } },
  ])('keeps its position when users are created and deleted, its own included: %j', async (args, { ctx }) => {
    for (let number = 10; number < 20; number += 1) await createUser(ctx, { name: `Person ${number}` })
    const all = toIds(await listUsers(ctx, args))
    const page = await listUsers(ctx, { ...args, first: 4 })
    const cursor = page.encodeRowCursor(page.rows[3] as User)
    await deleteUser(ctx, all[3] as string)
    await deleteUser(ctx, all[0] as string)
    await createUser(ctx, { name: 'Aaron', locked: true })
    const next = await listUsers(ctx, { ...args, first: 3, after: cursor })
    expect(toIds(next)).toEqual(all.slice(4, 7))
    const back = await listUsers(ctx, {
      ...args,
      last: 2,
      before: next.encodeRowCursor(next.rows[0] as User),
    })
    expect(toIds(back)).toEqual(all.slice(1, 3))
  })

  test('is returned by a page that is read by number', async ({ ctx }) => {
    for (let number = 10; number < 20; number += 1) await createUser(ctx, { name: `Person ${number}` })
    const list = { orderBy: 'name', direction: 'desc' }
    const second = await listUsers(ctx, { ...list, page: 1, pageSize: 3 })
    expect(second.page).toBe(1)
    const third = await listUsers(ctx, {
      ...list,
      first: 3,
      after: second.encodeRowCursor(second.rows[2] as User),
    })
    expect(third.page).toBeNull()
    expect(toIds(third)).toEqual(toIds(await listUsers(ctx, { ...list, page: 2, pageSize: 3 })))
  })
})

describe('a list of users ordered by name', () => {
  test('ignores case and accents, and returns users without a name last in both directions', async ({
    ctx,
  }) => {
    for (const name of ['Zoë', 'ähnlich', 'Alpha', 'Łukasz', 'lukas', 'Übel', 'ubel', null])
      await createUser(ctx, { name })
    const names = async (direction: string) =>
      (await listUsers(ctx, { orderBy: 'name', direction })).rows.map(({ name }) => name)
    expect(await names('asc')).toEqual(['ähnlich', 'Alpha', 'lukas', 'Łukasz', 'Übel', 'ubel', 'Zoë', null])
    expect(await names('desc')).toEqual(['Zoë', 'ubel', 'Übel', 'Łukasz', 'lukas', 'Alpha', 'ähnlich', null])
  })

  test('has a cursor for a name of any length', async ({ ctx }) => {
    const long = 'ﷺ'.repeat(1000)
    for (const name of [long, `${long.slice(1)}x`, 'b']) await createUser(ctx, { name })
    expect(await walkByCursor(ctx, { orderBy: 'name' }, 1)).toHaveLength(3)
    expect(await walkByCursor(ctx, { filter: { search: 'ﷺ'.repeat(200) } }, 1)).toHaveLength(2)
  })
})
