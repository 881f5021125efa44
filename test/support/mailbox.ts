import { buffer } from 'node:stream/consumers'
import PostalMime from 'postal-mime'
import { SMTPServer } from 'smtp-server'
import { vi } from 'vitest'
import { freePort } from './process.ts'

const CODE = /\b(\d{6})\b/
const WAIT_LIMIT_MS = 10_000

/** A mail server for several processes, whose own inboxes the test cannot read. */
export type Mailbox = {
  url: string
  /** The newest code that was sent to an address; waits for one. */
  codeFor: (address: string) => Promise<string>
  close: () => Promise<void>
}

export async function startMailbox(): Promise<Mailbox> {
  const texts = new Map<string, string>()
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData: async (stream, session, done) => {
      const { text = '' } = await PostalMime.parse(await buffer(stream))
      if (CODE.test(text)) for (const { address } of session.envelope.rcptTo) texts.set(address, text)
      done()
    },
  })
  const port = await freePort()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return {
    url: `smtp://127.0.0.1:${port}`,
    codeFor: (address) =>
      vi.waitFor(
        () => {
          const code = CODE.exec(texts.get(address) ?? '')?.[1]
          if (!code) throw new Error(`no code was sent to ${address}`)
          return code
        },
        { timeout: WAIT_LIMIT_MS, interval: 20 },
      ),
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}
