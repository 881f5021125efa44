import { type Client, createClient } from 'graphql-ws'
import WebSocket from 'ws'
import { createUser, lockUser } from '../../src/users/users.ts'
import { logOf } from '../support/events.ts'
import { test as base } from '../support/fixtures.ts'

/** The only input of each client library: addresses and a token of a tenant with seven users. */
export type Connection = {
  url: string
  headers: Record<string, string>
  /** graphql-transport-ws, set up as the documentation of the libraries does. */
  socket: Client
  /** Ids of the users, in order of the list. */
  userIds: string[]
  /** The newest position of the event log, which a subscription can start from. */
  position: () => Promise<string>
  /** Locks a user by another caller. */
  lock: (userId: string) => Promise<unknown>
}

/** `test` with the connection, whose socket is disposed of after the file. */
export const test = base.extend(
  'connection',
  { scope: 'file' },
  async ({ app, tenant, token, ctx }, { onCleanup }): Promise<Connection> => {
    const userIds: string[] = []
    for (const name of ['Ada', 'Bob', 'Cleo', 'Dan', 'Eve', 'Finn', 'Gus'])
      userIds.push((await createUser(ctx, { name })).id)
    const url = `${app.origin}/${tenant}/graphql`
    const authorization = `Bearer ${token}`
    const socket = createClient({
      url: url.replace('http', 'ws'),
      webSocketImpl: WebSocket,
      connectionParams: { authorization },
    })
    onCleanup(() => socket.dispose())
    return {
      url,
      headers: { authorization },
      socket,
      userIds,
      position: async () => (await logOf(tenant)).at(-1)?.position ?? '',
      lock: (userId) => lockUser(ctx, userId),
    }
  },
)

/** Resolves as soon as `isSo` returns true; the time limit of the test ends the wait. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 10))
}
