import { createServer as createGateway } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'

/** How long each step of a conversation takes. */
const STEP_MS = 50

/**
 * Starts a mail server and a gateway for text messages that take 50 ms for each step, and sets the variables
 * for them. It imports nothing of `src/`, which reads the environment when it is imported.
 */
export async function startSlowMessageServers(): Promise<{ close: () => void }> {
  const mail = createServer((socket) => {
    socket.on('error', () => undefined)
    const answer = (line: string) =>
      setTimeout(() => socket.destroyed || socket.write(`${line}\r\n`), STEP_MS)
    answer('220 slow ESMTP')
    socket.on('data', (chunk) => {
      const text = String(chunk)
      if (/^DATA/i.test(text)) answer('354 go on')
      else if (/^QUIT/i.test(text)) socket.end('221 bye\r\n')
      else if (/^(EHLO|HELO|MAIL|RCPT|RSET)/i.test(text)) answer('250 ok')
      else if (/\r\n\.\r\n$/.test(text)) answer('250 taken')
    })
  })
  const gateway = createGateway((request, response) => {
    request.resume()
    setTimeout(() => response.writeHead(202).end(), STEP_MS)
  })
  const listen = (server: typeof mail) =>
    new Promise<number>((resolve) =>
      server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)),
    )
  process.env.SMTP_URL = `smtp://127.0.0.1:${await listen(mail)}`
  process.env.SMS_URL = `http://127.0.0.1:${await listen(gateway)}`
  process.env.SMS_TOKEN = 'a-token'
  return { close: () => [mail, gateway].forEach((server) => void server.close()) }
}
