import { describe, expect } from 'vitest'
import { test as base, until } from './connection.ts'
import { CreateUserDocument, LocksDocument, LockUserDocument, UsersDocument } from './operations.ts'
import { createUrqlClient } from './urql-client.ts'

const test = base
  .extend('urql', { scope: 'file' }, ({ connection }) => createUrqlClient(connection))
  /** The whole list, as the cache has it. */
  .extend('listed', { scope: 'file' }, ({ urql }) => () => {
    const list = urql.readQuery(UsersDocument, { first: 3 })
    return list?.data?.users?.edges.map(({ node }) => node) ?? []
  })

describe('urql', () => {
  test('pages through a list by relayPagination', async ({ connection, urql, listed }) => {
    let after: string | null | undefined
    do {
      const { data, error } = await urql.query(UsersDocument, { first: 3, after }).toPromise()
      expect(error).toBeUndefined()
      after = data?.users?.pageInfo.hasNextPage ? data.users.pageInfo.endCursor : undefined
    } while (after)
    expect(listed().map(({ id }) => id)).toEqual(connection.userIds)
  })

  test('updates the rows of the cache by a mutation, and adds a row by its updater', async ({
    connection,
    urql,
    listed,
  }) => {
    const [, bob] = connection.userIds
    await urql.mutation(LockUserDocument, { userId: bob as string }).toPromise()
    expect(listed()[1]).toMatchObject({ name: 'Bob', locked: true })
    await urql.mutation(CreateUserDocument, { name: 'Hana' }).toPromise()
    expect(listed().at(-1)).toMatchObject({ name: 'Hana', locked: false })
  })

  test('updates the rows of the cache by a subscription', async ({ connection, urql, listed }) => {
    const [, , cleo] = connection.userIds
    const failures: unknown[] = []
    const { unsubscribe } = urql
      .subscription(LocksDocument, { after: await connection.position() })
      .subscribe(({ error }) => error && failures.push(error))
    await connection.lock(cleo as string)
    await until(() => failures.length > 0 || listed().some(({ id, locked }) => id === cleo && locked))
    unsubscribe()
    expect(failures).toEqual([])
  })
})
