import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

/** A mail server on loopback. */
export type MailServer = {
  server: SMTPServer['server']
  port: number
  url: string
  close: () => Promise<void>
}

/** Starts a mail server without TLS. A mail is rejected with the message of an error that `receive` throws. */
export async function startMailServer(
  receive: (mail: Email, to: string[], from: string, raw: Buffer) => unknown,
  options: SMTPServerOptions = {},
): Promise<MailServer> {
  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    // Connections that a client left open are ended at once.
    closeTimeout: 1,
    onData: async (stream, { envelope: { mailFrom, rcptTo } }, done) => {
      const raw = await buffer(stream)
      try {
        const to = rcptTo.map(({ address }) => address)
        await receive(await PostalMime.parse(raw), to, mailFrom ? mailFrom.address : '', raw)
        done()
      } catch (error) {
        done(error as Error)
      }
    },
    ...options,
  })
  smtp.listen(0, '127.0.0.1')
  await once(smtp.server, 'listening')
  const { port } = smtp.server.address() as AddressInfo
  return {
    server: smtp.server,
    port,
    url: `smtp://127.0.0.1:${port}`,
    close: () => new Promise<void>((resolve) => void smtp.close(resolve)),
  }
}
