import type { ServerResponse } from 'node:http'
import { FastResponse } from 'srvx'

/** A header with one value. A name that occurs twice, such as Set-Cookie, is sent twice. */
export type Header = [name: string, value: string]

/**
 * A web Response whose status, headers and text are known when it is created. `serveNode` writes it to Node's
 * response without web Headers and without a stream. Whatever reads or changes `headers` still gets web
 * Headers; from then on the answer is sent like every other web Response. See docs/decisions/0090.
 */
export class Answer extends FastResponse {
  readonly #text: string | null
  readonly #headers: Header[]
  #hasWebHeaders = false

  constructor(text: string | null, status: number, headers: Header[]) {
    super(text, { status, headers })
    this.#text = text
    this.#headers = headers
  }

  override get headers(): Headers {
    this.#hasWebHeaders = true
    return super.headers
  }

  /** Adds a header; an earlier one of the same name stays. */
  addHeader(name: string, value: string): void {
    if (this.#hasWebHeaders) super.headers.append(name, value)
    else this.#headers.push([name, value])
  }

  /** Writes the answer to Node's response. Returns false, and writes nothing, when web Headers exist. */
  writeTo(response: ServerResponse): boolean {
    if (this.#hasWebHeaders) return false
    const fields: string[] = []
    for (const [name, value] of this.#headers) fields.push(name, value)
    if (this.#text === null) response.writeHead(this.status, '', fields).end()
    else {
      fields.push('content-length', String(Buffer.byteLength(this.#text)))
      response.writeHead(this.status, '', fields).end(this.#text)
    }
    return true
  }
}

/** Adds a header to any response; an earlier one of the same name stays. */
export function addHeader(response: Response, name: string, value: string): void {
  if (response instanceof Answer) response.addHeader(name, value)
  else response.headers.append(name, value)
}
