import type { IncomingMessage, ServerResponse } from 'node:http'
import type { H3 } from 'h3'
import { NodeRequest, sendNodeResponse } from 'srvx/node'
import { env } from '../../core/env.ts'
import { log } from '../../core/log.ts'
import { Answer, addHeader } from './answer.ts'

/** Browsers use https alone for a year (RFC 6797). Other names of the domain are not ours to decide. */
const STRICT_TRANSPORT = ['strict-transport-security', 'max-age=31536000'] as const
const IS_HTTPS = env.baseUrl.startsWith('https:')

/** Sets Strict-Transport-Security on a response that this module does not send. */
export function setStrictTransport(response: ServerResponse): void {
  if (IS_HTTPS) response.setHeader(...STRICT_TRANSPORT)
}

/** How answers are sent: `node` writes them to Node's response, `web` sends all as web Responses. */
export type ResponseWriter = 'node' | 'web'

/**
 * Serves an h3 app on node:http. Handlers return web Responses; an `Answer` among them is written directly.
 * Both send the same status, headers and body.
 */
export const serveNode =
  (app: H3, writer: ResponseWriter = 'node') =>
  async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      const answer = await app.fetch(new NodeRequest({ req: request, res: response }))
      // A header of the ServerResponse would have Node keep only the last Set-Cookie of a response.
      if (IS_HTTPS) addHeader(answer, ...STRICT_TRANSPORT)
      if (writer === 'node' && answer instanceof Answer && answer.writeTo(response)) return
      await sendNodeResponse(response, answer)
    } catch (error) {
      failResponse(response, error)
    }
  }

function failResponse(response: ServerResponse, error: unknown): void {
  log.error({ err: error }, 'a response could not be sent')
  if (response.headersSent) response.destroy()
  else response.writeHead(500).end()
}
