import { type Client, createClient } from 'graphql-ws'
import WebSocket from 'ws'
import { createUser, lockUser } from '../../src/users/users.ts'
import { ctxFor, newTenant, tokenFor } from '../support/actors.ts'
import type { TestApp } from '../support/app.ts'
import { logOf } from '../support/events.ts'

/** What each client library is given: addresses and a token of a tenant with seven users, and nothing else. */
export type Connection = {
  url: string
  headers: Record<string, string>
  /** graphql-transport-ws, as the libraries' own documentation sets it up. */
  socket: Client
  /** Ids of the users, in order of the list. */
  userIds: string[]
  /** Where the event log stands, so that a subscription can start from here. */
  position: () => Promise<string>
  /** Somebody else locks a user. */
  lock: (userId: string) => Promise<unknown>
}

/** Makes the tenant. Dispose the socket in afterAll. */
export async function connectTo(app: TestApp): Promise<Connection> {
  const tenant = await newTenant()
  const token = await tokenFor(tenant)
  const ctx = await ctxFor(tenant)
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
  return {
    url,
    headers: { authorization },
    socket,
    userIds,
    position: async () => (await logOf(tenant)).at(-1)?.position ?? '',
    lock: (userId) => lockUser(ctx, userId),
  }
}

/** Resolves as soon as `isSo` holds; the test's own time limit ends the wait. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 10))
}
