import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { NDJSON } from '../../src/core/json/ndjson.ts'
import { tokenFor } from './actors.ts'
import type { Json } from './json.ts'
import { test as base } from './tenant-per-test.ts'

export type UploadOptions = {
  /** Another tenant than the test's, called with its own token. */
  tenant?: string
  token?: string | null
  headers?: Record<string, string>
  query?: string
}

/** The lines of an import's or an export's response; throws when the last line does not end. */
export async function readLines(response: Response): Promise<Json[]> {
  const text = await response.text()
  if (!text.endsWith('\n')) throw new Error(`the last line does not end: ${text.slice(-100)}`)
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

/** Starts an import on a connection of its own, to send and receive lines while it runs. */
export const startUpload = (origin: string, tenant: string, token: string): ClientRequest =>
  httpRequest(new URL(`/${tenant}/api/v1/users/import`, origin), {
    method: 'POST',
    headers: { 'content-type': NDJSON, authorization: `Bearer ${token}` },
  })

export type RunningImport = {
  sent: ClientRequest
  /** The next line of the response; null after the last one. */
  next: () => Promise<Json | null>
  /** `end` after a complete response, `cut` after a broken one. */
  ended: () => 'end' | 'cut' | undefined
}

function followImport(sent: ClientRequest): RunningImport {
  sent.on('error', () => {})
  sent.flushHeaders()
  let text = ''
  let ended: 'end' | 'cut' | undefined
  let wake: () => void = () => {}
  const finish = (how: 'end' | 'cut') => {
    ended = how
    wake()
  }
  sent.on('response', (response: IncomingMessage) => {
    response.setEncoding('utf8')
    response.on('data', (chunk) => {
      text += chunk
      wake()
    })
    response.on('end', () => finish(response.complete ? 'end' : 'cut'))
    response.on('error', () => finish('cut'))
  })
  const next = async (): Promise<Json | null> => {
    for (;;) {
      const at = text.indexOf('\n')
      if (at >= 0) {
        const line = JSON.parse(text.slice(0, at))
        text = text.slice(at + 1)
        return line
      }
      if (ended) return null
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
  return { sent, next, ended: () => ended }
}

/** With the two operations that transfer many users, in a tenant of the test's own. */
export const test = base
  /** Imports a body as a whole. */
  .extend('upload', ({ app, tenant, token }) => async (body: string, options: UploadOptions = {}) => {
    const target = options.tenant ?? tenant
    const bearer =
      options.token !== undefined ? options.token : target === tenant ? token : await tokenFor(target)
    return app.fetch(`/${target}/api/v1/users/import${options.query ?? ''}`, {
      method: 'POST',
      headers: {
        'content-type': NDJSON,
        ...(bearer !== null && { authorization: `Bearer ${bearer}` }),
        ...options.headers,
      },
      body,
    })
  })
  /** Imports line by line. */
  .extend(
    'openImport',
    ({ app, tenant, token }) =>
      (as = token) =>
        followImport(startUpload(app.origin, tenant, as)),
  )
  .extend(
    'download',
    ({ app, tenant, token }) =>
      (query = '', as = token, method = 'GET') =>
        app.fetch(`/${tenant}/api/v1/users/export${query}`, {
          method,
          headers: { authorization: `Bearer ${as}` },
        }),
  )
