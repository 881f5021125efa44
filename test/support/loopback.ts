import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'

const usedPorts = new Set<number>()

/**
 * Starts a server at a port of the loopback interface that no server of this process has had before; returns
 * the port. The program keeps keys, metadata and documents by their URL for minutes. It would take those of a
 * server that has ended for those of a new one at the same port.
 */
export async function listenOnLoopback(server: Server, host = '127.0.0.1'): Promise<number> {
  for (;;) {
    server.listen(0, host)
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    if (!usedPorts.has(port)) {
      usedPorts.add(port)
      return port
    }
    server.close()
    await once(server, 'close')
  }
}
