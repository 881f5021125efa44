import { request } from 'node:http'

/** A request of a stranger. `path` follows the tenant. */
export type StrangerRequest = {
  method?: string
  path: string
  headers?: Record<string, string>
  body?: string
}

/** The bytes of a whole response: the status line, the headers and the body. */
export const measureAnswer = (
  origin: string,
  { method = 'GET', path, headers = {}, body }: StrangerRequest,
): Promise<number> =>
  new Promise((resolve, reject) => {
    const sent = request(
      `${origin}${path}`,
      { method, headers, agent: false, maxHeaderSize: 10_000_000 },
      (response) => {
        let bytes = response.rawHeaders.join('').length
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length
        })
        response.on('end', () => resolve(bytes))
        response.on('error', reject)
      },
    )
    sent.on('error', reject)
    sent.end(body)
  })
