import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import PostalMime from 'postal-mime'
import { SMTPServer } from 'smtp-server'
import { type ServerProcess, startServer } from './process.ts'

/**
 * A server process that logs everything, with a mail server and an SMS gateway that both fail for some
 * messages.
 */
export type LoggingServer = {
  server: ServerProcess
  baseUrl: string
  encryptionKey: string
  smsToken: string
  /** The texts of mails and of text messages, in the order in which they arrived. */
  mails: string[]
  texts: string[]
  close: () => Promise<void>
}

async function startMailServer(mails: string[]): Promise<SMTPServer> {
  const smtp = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    onData: (stream, _session, done) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', async () => {
        const mail = await PostalMime.parse(Buffer.concat(chunks))
        mails.push(mail.text ?? '')
        // A mail to `bounce` is rejected with a response that quotes it.
        if (mail.to?.[0]?.address?.startsWith('bounce')) done(new Error(`550 no: ${mail.text}`))
        else done()
      })
    },
  })
  await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', resolve))
  return smtp
}

export async function startLoggingServer(): Promise<LoggingServer> {
  const [mails, texts]: [string[], string[]] = [[], []]
  const smtp = await startMailServer(mails)
  const gateway = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += chunk))
    request.on('end', () => {
      texts.push(JSON.parse(body).body)
      // Every second message fails, and the response repeats it.
      response.writeHead(texts.length % 2 === 0 ? 500 : 200).end(body)
    })
  })
  await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve))
  const directory = await mkdtemp(join(tmpdir(), 'vestibule-logs-'))
  const baseUrl = 'https://id.example.com'
  const [encryptionKey, smsToken] = [32, 24].map((size) => randomBytes(size).toString('base64url')) as [
    string,
    string,
  ]
  const server = await startServer({
    NODE_ENV: 'development',
    LOG_LEVEL: 'trace',
    BASE_URL: baseUrl,
    DATA_DIR: directory,
    DATABASE_URL: process.env.DATABASE_URL,
    REDIS_URL: process.env.REDIS_URL,
    REDIS_PREFIX: process.env.REDIS_PREFIX,
    ENCRYPTION_KEY: encryptionKey,
    SMTP_URL: `smtp://127.0.0.1:${(smtp.server.address() as AddressInfo).port}`,
    SMS_URL: `http://127.0.0.1:${(gateway.address() as AddressInfo).port}/send`,
    SMS_TOKEN: smsToken,
  })
  return {
    server,
    baseUrl,
    encryptionKey,
    smsToken,
    mails,
    texts,
    close: async () => {
      await server.stop()
      smtp.close(() => undefined)
      gateway.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
