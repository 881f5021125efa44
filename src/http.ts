import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { getRequestIP, type H3Event } from 'h3'
import { FastResponse } from 'srvx'
import type { Ctx } from './ctx.ts'
import { env } from './env.ts'
import { InvalidInput, OAuthError, PayloadTooLarge, UnsupportedMediaType } from './errors.ts'
import { normalIp } from './ip.ts'
import { repeatedNames } from './params.ts'
import { expectStream } from './uploads.ts'

export const JSON_LIMIT_BYTES = 100_000
export const FORM_LIMIT_BYTES = 65_536

/** Request ids from outside are taken over when they are harmless in a log line and in a header. */
const REQUEST_ID = /^[A-Za-z0-9._-]{8,64}$/

/**
 * The caller's address. Of X-Forwarded-For only the entry that the outermost trusted proxy wrote counts: what stands
 * before it, anybody may have sent.
 */
export function clientIp(direct: string | null, forwardedFor: string | null): string | null {
  if (env.trustProxy === 0 || !forwardedFor) return direct
  const hops = forwardedFor.split(',').map((hop) => hop.trim())
  return hops.at(-env.trustProxy) || direct
}

/** One spelling each, for lists that filter by it; a proxy may name what is no address. */
const knownIp = (ip: string | null): string | null => ip && (normalIp(ip) ?? ip)

export type RequestMeta = Pick<Ctx, 'requestId' | 'ip' | 'userAgent'>

/** Headers to be read only. */
export type HeaderReader = Pick<Headers, 'get'>

/** What a service must know of the request itself; from headers and the peer's address. */
export function metaOf(headers: HeaderReader, peer: string | null): RequestMeta {
  const given = headers.get('x-request-id') ?? ''
  return {
    requestId: REQUEST_ID.test(given) ? given : randomUUID(),
    ip: knownIp(clientIp(peer, headers.get('x-forwarded-for'))),
    userAgent: headers.get('user-agent')?.slice(0, 500) ?? null,
  }
}

/**
 * Segments of the characters that slugs, ids and route names are made of. Everything else (`//`, `%2f`, encoded
 * letters, `..`, `;`, a slash at the end) is another path, which is not there: no second spelling gets past a rule.
 */
const CANONICAL_PATH = /^(\/(?!\.{1,2}(\/|$))[A-Za-z0-9._~-]+)+$/

/**
 * Path and query as they were sent. h3's own are decoded and resolved, and take part of the Host header for theirs.
 */
export function targetOf(event: H3Event): { isCanonical: boolean; query: URLSearchParams } {
  const target = event.runtime?.node?.req.url ?? event.url.pathname + event.url.search
  const mark = target.indexOf('?')
  const path = mark < 0 ? target : target.slice(0, mark)
  return {
    isCanonical: CANONICAL_PATH.test(path),
    query: new URLSearchParams(mark < 0 ? '' : target.slice(mark + 1)),
  }
}

const metas = new WeakMap<Request, RequestMeta>()

/** The same for an h3 event; one request keeps one id. */
export function requestMeta(event: H3Event): RequestMeta {
  let meta = metas.get(event.req)
  if (!meta) {
    meta = metaOf(event.req.headers, getRequestIP(event) ?? null)
    metas.set(event.req, meta)
  }
  return meta
}

/** A request as a proof of a key is of it (RFC 9449, section 4.2): our own URL, not the one that its Host header makes. */
export const provableOf = ({ req, url }: H3Event) => ({
  proof: req.headers.get('dpop'),
  method: req.method,
  url: env.baseUrl + url.pathname,
})

const mediaType = (event: H3Event): string =>
  (event.req.headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''

/**
 * The body as bytes, refused as soon as it passes the limit, whatever Content-Length says. Read from Node's own request:
 * a web stream over it costs more than the rest of a token request. Throws PayloadTooLarge, or InvalidInput when it ends
 * before its end.
 */
export function readBytes(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > limitBytes)
    return Promise.reject(new PayloadTooLarge(limitBytes))
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const finish = (settle: () => void) => {
      request.off('data', take).off('end', end).off('error', fail).off('close', fail)
      settle()
    }
    const take = (chunk: Buffer) => {
      size += chunk.length
      chunks.push(chunk)
      if (size > limitBytes) finish(() => reject(new PayloadTooLarge(limitBytes)))
    }
    const end = () => finish(() => resolve(Buffer.concat(chunks)))
    const fail = () =>
      finish(() => reject(new InvalidInput([{ field: '', description: 'the body was cut off' }])))
    request.on('data', take).on('end', end).on('error', fail).on('close', fail)
  })
}

async function readText(event: H3Event, limitBytes: number): Promise<string> {
  const request = event.runtime?.node?.req as IncomingMessage | undefined
  const bytes = request ? await readBytes(request, limitBytes) : Buffer.from(await event.req.arrayBuffer())
  if (bytes.length > limitBytes) throw new PayloadTooLarge(limitBytes)
  return bytes.toString('utf8')
}

/** A JSON body of at most 100 KB. Throws UnsupportedMediaType, PayloadTooLarge or InvalidInput. */
export async function readJson(event: H3Event): Promise<unknown> {
  if (mediaType(event) !== 'application/json') throw new UnsupportedMediaType('application/json')
  const text = await readText(event, JSON_LIMIT_BYTES)
  try {
    return JSON.parse(text)
  } catch {
    throw new InvalidInput([{ field: '', description: 'the body is not valid JSON' }])
  }
}

/**
 * A body of any length as it arrives, no faster than it is taken. Throws UnsupportedMediaType; while it is read, InvalidInput
 * when it is cut off.
 */
export function readStream(event: H3Event, expected: string): AsyncIterable<Uint8Array> {
  const encoding = event.req.headers.get('content-encoding') ?? 'identity'
  if (mediaType(event) !== expected || encoding !== 'identity')
    throw new UnsupportedMediaType(`${expected}, not compressed`)
  const request = event.runtime?.node?.req as IncomingMessage | undefined
  if (!request) return event.req.body ?? (async function* () {})()
  return chunksOf(request)
}

/** Lets a request and its answer take as long as they like, as long as something of them arrives. */
export function limitIdling(event: H3Event): void {
  const request = event.runtime?.node?.req as IncomingMessage | undefined
  if (request) expectStream(request)
}

async function* chunksOf(request: IncomingMessage): AsyncGenerator<Uint8Array> {
  try {
    // Who stops reading still has something to answer, on the same socket.
    for await (const chunk of request.iterator({ destroyOnReturn: false })) yield chunk as Buffer
  } catch {
    throw new InvalidInput([{ field: '', description: 'the body was cut off' }])
  }
}

/** Parameters of a query or a form. A repeated one is an error (RFC 6749, section 3.1). */
export function singleParams(params: URLSearchParams): Record<string, string> {
  const repeated = repeatedNames(params)
  if (repeated.length > 0)
    throw new OAuthError('invalid_request', `Repeated parameters: ${repeated.join(', ')}.`, {
      redirect: false,
    })
  // An empty value counts as an omitted one (RFC 6749, section 3.1).
  return Object.fromEntries([...params].filter(([, value]) => value !== ''))
}

/** The parameters of an urlencoded body of at most 64 KB, repeated ones included. Throws OAuthError invalid_request. */
export async function readFormParams(event: H3Event): Promise<URLSearchParams> {
  if (mediaType(event) !== 'application/x-www-form-urlencoded')
    throw new OAuthError('invalid_request', 'The body must be application/x-www-form-urlencoded.', {
      redirect: false,
    })
  return new URLSearchParams(await readText(event, FORM_LIMIT_BYTES))
}

/** The same, with repeated parameters refused. */
export const readForm = async (event: H3Event): Promise<Record<string, string>> =>
  singleParams(await readFormParams(event))

/** A JSON answer that h3's server writes without building a web Response first; half the cost of a small answer. */
export const jsonAnswer = (
  body: object,
  { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
): Response =>
  new FastResponse(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json', ...headers },
  })
