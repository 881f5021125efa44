import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { freePort, startServer } from '../support/process.ts'
import { callRest, makeTenant, newServerEnv } from '../support/started-servers.ts'

/** What a mail server does with a connection. */
const FAULTS: [string, (socket: Socket) => void][] = [
  ['says nothing', () => {}],
  ['closes the connection', (socket) => socket.end()],
  ['resets the connection', (socket) => socket.resetAndDestroy()],
  ['greets and says nothing more', (socket) => socket.write('220 mail.example ESMTP\r\n')],
  [
    'greets and resets',
    (socket) => socket.write('220 mail.example ESMTP\r\n', () => socket.resetAndDestroy()),
  ],
  ['is overloaded', (socket) => socket.end('421 try again later\r\n')],
  ['does not speak SMTP', (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')],
  [
    'ends its half of the connection',
    (socket) => socket.write('220 mail.example ESMTP\r\n', () => socket.end()),
  ],
]

describe('a server whose mail server', () => {
  test('fails in any way answers 503 with Retry-After within 11 s and keeps running', async () => {
    let fail: (socket: Socket) => void = () => {}
    const sockets = new Set<Socket>()
    const mail = createServer((socket) => {
      sockets.add(socket.on('error', () => {}))
      fail(socket)
    }).listen(0, '127.0.0.1')
    await once(mail, 'listening')
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy()
      mail.close()
    })
    const port = await freePort()
    const baseUrl = `http://localhost:${port}`
    const server = await startServer({
      ...(await newServerEnv()),
      PORT: String(port),
      BASE_URL: baseUrl,
      SMTP_URL: `smtp://127.0.0.1:${(mail.address() as AddressInfo).port}`,
    })
    onTestFinished(() => server.kill().catch(() => {}))
    const token = await makeTenant(server, baseUrl, 'mail')
    const figures: string[] = []
    for (const [what, next] of FAULTS) {
      fail = next
      const start = Date.now()
      const to = `${what.replaceAll(' ', '-')}@mail.example`
      const answer = await callRest(server, 'mail', token, '/passcodes/email', { to, createUser: true })
      figures.push(`${what}: ${answer.status} after ${Date.now() - start} ms`)
      expect([what, answer.status, answer.headers.get('retry-after')]).toEqual([what, 503, '5'])
      expect(Date.now() - start).toBeLessThan(11_000)
    }
    mail.close()
    for (const socket of sockets) socket.destroy()
    const refused = await callRest(server, 'mail', token, '/passcodes/email', {
      to: 'refused@mail.example',
      createUser: true,
    })
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5'])
    expect((await fetch(`${server.origin}/health/ready`)).status).toBe(200)
    expect(server.child.exitCode).toBeNull()
    process.stderr.write(`${figures.join('\n')}\n`)
  })
})
