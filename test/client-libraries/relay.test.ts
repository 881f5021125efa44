import { createOperationDescriptor, getRequest, requestSubscription } from 'relay-runtime'
import { describe, expect } from 'vitest'
import { until } from './connection.ts'
import { test } from './relay-store.ts'

describe('Relay', () => {
  test('pages through a list by @connection, and refetches a node', async ({
    connection,
    listed,
    artifact,
    environment,
    load,
  }) => {
    const query = createOperationDescriptor(getRequest(artifact('UsersQuery')), {})
    environment.retain(query)
    await load('UsersQuery')
    expect(listed().map(({ name }) => name)).toEqual(['Ada', 'Bob', 'Cleo'])
    const pageInfo = () =>
      environment.getStore().getSource().get('client:root:__Users_users_connection:pageInfo') ?? {}
    await load('UsersPageQuery', { count: 3, cursor: pageInfo().endCursor })
    await load('UsersPageQuery', { count: 3, cursor: pageInfo().endCursor })
    expect(listed().map(({ id }) => id)).toEqual(connection.userIds)
    expect(pageInfo().hasNextPage).toBe(false)
    expect(await load('UsersNodeQuery', { id: connection.userIds[0] })).toMatchObject({
      node: { __typename: 'User', name: 'Ada' },
    })
  })

  test('updates the rows of the store by a mutation, and appends a row to the connection', async ({
    connection,
    listed,
    mutate,
  }) => {
    await mutate('UsersLockMutation', { input: { userId: connection.userIds[1] } })
    expect(listed()[1]).toMatchObject({ name: 'Bob', locked: true })
    await mutate('UsersCreateMutation', {
      input: { name: 'Hana' },
      connections: ['client:root:__Users_users_connection'],
    })
    expect(listed().at(-1)).toMatchObject({ name: 'Hana', locked: false })
  })

  test('prepends the edge of a created row to the connection', async ({ listed, mutate }) => {
    const before = listed()
    const connections = ['client:root:__Users_users_connection']
    await mutate('UsersEdgeMutation', { input: { name: 'Iris' }, connections })
    expect(listed()).toEqual([expect.objectContaining({ name: 'Iris', locked: false }), ...before])
  })

  test('updates the rows of the store by a subscription', async ({
    connection,
    listed,
    artifact,
    environment,
  }) => {
    const [, , cleo] = connection.userIds
    const failures: Error[] = []
    const subscription = requestSubscription(environment, {
      subscription: artifact('UsersLockSubscription'),
      variables: { after: await connection.position() },
      onError: (error) => failures.push(error),
    })
    await connection.lock(cleo as string)
    await until(() => failures.length > 0 || listed().some(({ id, locked }) => id === cleo && locked))
    subscription.dispose()
    expect(failures).toEqual([])
    expect(listed().find(({ id }) => id === cleo)).toMatchObject({ name: 'Cleo', locked: true })
  })
})
