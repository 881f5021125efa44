import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import PostalMime from 'postal-mime'
import { SMTPServer } from 'smtp-server'

const POLL_MS = 20
const WAIT_MS = 30_000

/** A mail server on loopback that keeps the newest code of each address. */
export type Mailbox = {
  url: string
  /** Waits for the code of an address, and forgets it. */
  takeCode: (address: string) => Promise<string>
  stop: () => void
}

export async function startMailbox(): Promise<Mailbox> {
  const codes = new Map<string, string>()
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData: async (stream, { envelope }, done) => {
      const { subject = '' } = await PostalMime.parse(await buffer(stream))
      const code = /^[\d ]+/.exec(subject)?.[0].trim()
      for (const { address } of envelope.rcptTo) if (code) codes.set(address, code)
      done()
    },
  })
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  const { port } = server.server.address() as AddressInfo
  return {
    url: `smtp://127.0.0.1:${port}?ignoreTLS=true`,
    takeCode: async (address) => {
      for (let waited = 0; waited < WAIT_MS; waited += POLL_MS) {
        const code = codes.get(address)
        codes.delete(address)
        if (code) return code
        await new Promise((resolve) => setTimeout(resolve, POLL_MS))
      }
      throw new Error(`no code arrived at ${address}`)
    },
    stop: () => server.close(),
  }
}
