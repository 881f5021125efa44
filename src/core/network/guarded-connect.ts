import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { createGuardedLookup, FetchError, findTargetIssue } from './fetcher.ts'

/**
 * Connects to a host that an API caller names, under the rules of `guardedFetch`. Throws FetchError for a host without a
 * public address, and the error of the connection.
 */
export async function connectGuarded(host: string, port: number, signal: AbortSignal): Promise<Socket> {
  const issue = findTargetIssue(new URL(`https://${host.includes(':') ? `[${host}]` : host}:${port}`))
  if (issue) throw new FetchError('refused', `${host}: ${issue}`)
  const socket = connect({ host, port, signal, lookup: createGuardedLookup() })
  await once(socket, 'connect', { signal }).catch((error: unknown) => {
    socket.destroy()
    throw error
  })
  return socket
}
