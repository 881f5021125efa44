import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test as base } from 'vitest'
import { createFetcher, type FetchError, type FetchRules } from '../../src/core/network/fetcher.ts'
import { isPublicAddress } from '../../src/core/network/ip.ts'

export const STRICT: FetchRules = { isAllowedAddress: isPublicAddress, requireHttps: false }
export const LOOSE: FetchRules = { ...STRICT, isAllowedAddress: () => true }

/** How a fetch fails, or `fetched`. */
export const describeOutcome = (fetched: Promise<unknown>): Promise<string> =>
  fetched.then(
    () => 'fetched',
    (error: FetchError) => error.kind,
  )

export type Target = {
  port: number
  origin: string
  /** The requests that arrived. */
  seen: { url: string; headers: NodeJS.Dict<string | string[]> }[]
  close: () => Promise<void>
}

async function startTarget(listener: RequestListener, host: string, port: number): Promise<Target> {
  const seen: Target['seen'] = []
  const server: Server = createServer((request, response) => {
    seen.push({ url: request.url ?? '', headers: request.headers })
    listener(request, response)
  }).listen(port, host)
  await once(server, 'listening')
  const at = server.address() as AddressInfo
  return {
    port: at.port,
    origin: `http://${host}:${at.port}`,
    seen,
    close: async () => {
      if (!server.listening) return
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** `test` with fetchers and servers on this machine, which close after each test. */
export const test = base
  .extend('fetcher', async ({ task: _ }, { onCleanup }) => {
    const fetchers: { close: () => Promise<void> }[] = []
    onCleanup(async () => {
      await Promise.all(fetchers.map((each) => each.close()))
    })
    return (rules: FetchRules) => {
      const fetcher = createFetcher(rules)
      fetchers.push(fetcher)
      return fetcher
    }
  })
  /** Starts a server on an address of this machine that answers with `listener`. */
  .extend('serve', async ({ task: _ }, { onCleanup }) => {
    const targets: Target[] = []
    onCleanup(async () => {
      await Promise.all(targets.map((each) => each.close()))
    })
    return async (listener: RequestListener, host = '127.0.0.1', port = 0): Promise<Target> => {
      const target = await startTarget(listener, host, port)
      targets.push(target)
      return target
    }
  })
  /** A server that no fetch may reach. */
  .extend('inside', ({ serve }) => serve((_request, response) => response.end('secret')))
