import { describe, expect } from 'vitest'
import { createApolloClient } from './apollo-client.ts'
import { test as base, until } from './connection.ts'
import { CreateUserDocument, LocksDocument, LockUserDocument, UsersDocument } from './operations.ts'

const test = base
  .extend('apollo', { scope: 'file' }, async ({ connection }, { onCleanup }) => {
    const apollo = await createApolloClient(connection)
    onCleanup(() => apollo.stop())
    return apollo
  })
  /** The whole list, as the cache has it. */
  .extend('listed', { scope: 'file' }, ({ apollo }) => () => {
    const list = apollo.readQuery({ query: UsersDocument, variables: { first: 3 } })
    return list?.users?.edges.map(({ node }) => node) ?? []
  })

describe('Apollo Client', () => {
  test('pages through a list by relayStylePagination', async ({ connection, apollo, listed }) => {
    const first = await apollo.query({ query: UsersDocument, variables: { first: 3 } })
    expect(listed().map(({ name }) => name)).toEqual(['Ada', 'Bob', 'Cleo'])
    const list = apollo.watchQuery({ query: UsersDocument, variables: { first: 3 } })
    const subscription = list.subscribe({})
    let pageInfo = first.data?.users?.pageInfo
    while (pageInfo?.hasNextPage) {
      const next = await list.fetchMore({ variables: { first: 3, after: pageInfo.endCursor } })
      pageInfo = next.data?.users?.pageInfo
    }
    expect(listed().map(({ id }) => id)).toEqual(connection.userIds)
    subscription.unsubscribe()
  })

  test('updates the rows of the cache by a mutation, and adds a row by its update function', async ({
    connection,
    apollo,
    listed,
  }) => {
    const [, bob] = connection.userIds
    await apollo.mutate({ mutation: LockUserDocument, variables: { userId: bob as string } })
    expect(listed()[1]).toMatchObject({ name: 'Bob', locked: true })
    await apollo.mutate({
      mutation: CreateUserDocument,
      variables: { name: 'Hana' },
      update: (cache, { data }) => {
        const created = data?.createUser
        if (created?.__typename !== 'CreateUserPayload' || !created.user) throw new Error('not created')
        const node = {
          ...created.user,
          sessions: { __typename: 'SessionConnection' as const, edges: [] },
        }
        const edge = { __typename: 'UserEdge' as const, cursor: '', node }
        cache.updateQuery({ query: UsersDocument, variables: { first: 3 } }, (list) =>
          list?.users ? { users: { ...list.users, edges: [...list.users.edges, edge] } } : undefined,
        )
      },
    })
    expect(listed().at(-1)).toMatchObject({ name: 'Hana', locked: false })
  })

  test('returns an expected error as data that is matched by its interface', async ({ apollo }) => {
    const { data } = await apollo.mutate({
      mutation: LockUserDocument,
      variables: { userId: 'user_01m7xeb1sbendby702xerkqv3p' },
    })
    expect(data?.lockUser).toMatchObject({ __typename: 'NotFoundError', code: 'NOT_FOUND' })
  })

  test('updates the rows of the cache by a subscription', async ({ connection, apollo, listed }) => {
    const [, , cleo] = connection.userIds
    const failures: unknown[] = []
    const subscription = apollo
      .subscribe({ query: LocksDocument, variables: { after: await connection.position() } })
      .subscribe({ error: (error) => failures.push(error) })
    await connection.lock(cleo as string)
    await until(() => failures.length > 0 || listed().some(({ id, locked }) => id === cleo && locked))
    subscription.unsubscribe()
    expect(failures).toEqual([])
  })
})
