import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { listenOnLoopback } from './loopback.ts'

/** A message that a receiver got. */
export type Got = { path: string; headers: IncomingHttpHeaders; body: string }

/** A receiver of webhooks on this machine. `answers` has what a path answers; by default 204. */
export async function startWebhookReceiver() {
  const got: Got[] = []
  const answers = new Map<string, (response: ServerResponse, message: Got) => void>()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      const message = {
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      }
      got.push(message)
      const answer = answers.get(message.path)
      if (answer) answer(response, message)
      else response.writeHead(204).end()
    })
  })
  const origin = `http://127.0.0.1:${await listenOnLoopback(server)}`
  return {
    answers,
    urlOf: (path: string) => `${origin}${path}`,
    /** The messages of a path, in the order of their arrival. */
    at: (path: string) => got.filter((message) => message.path === path),
    close: () => {
      server.closeAllConnections()
      return new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
