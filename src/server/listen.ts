import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { env } from '../core/env.ts'
import { log } from '../core/log.ts'
import { StartError } from '../core/start-error.ts'

/** Listens on HOST. Resolves with the port. */
export function listenOnPort(server: Server, port: number): Promise<{ port: number }> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.syscall === 'getaddrinfo'
          ? new StartError(`HOST (${env.host}) is not an address or a name of this machine.`)
          : error,
      ),
    )
    server.listen(port, env.host, () => {
      server.removeAllListeners('error')
      // Accepting a connection may fail, such as without free file descriptors: the next one may succeed.
      server.on('error', (error) => log.error({ err: error }, 'the server could not accept a connection'))
      resolve({ port: (server.address() as AddressInfo).port })
    })
  })
}
