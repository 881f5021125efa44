import { randomUUID } from 'node:crypto'
import { getRequestIP, type H3Event } from 'h3'
import type { Ctx } from '../context/context.ts'
import { env } from '../core/env.ts'
import { log } from '../core/log.ts'
import { normalizeIp } from '../core/network/ip.ts'
import { Answer } from './node-response/answer.ts'

/** A request id from a proxy is used when it is safe in a log line and in a header. */
const REQUEST_ID = /^[A-Za-z0-9._-]{8,64}$/

let isWarned = false
/** Once per process: the header is written for each request. */
function warnOfForwardedText(): void {
  if (isWarned) return
  isWarned = true
  log.warn(
    `X-Forwarded-For of the proxy has no IP address at place ${env.trustProxy} from its end; limits count the proxy's own address`,
  )
}

/**
 * Returns the IP address of the client. Only the entry of X-Forwarded-For that the outermost trusted proxy
 * added is used; entries before it may be forged. An entry that is not an IP address, such as one with a
 * port, is ignored in favor of the peer's address: as text, each port would count as a network of its own.
 */
function resolveClientIp(peer: string | null, forwardedFor: string | null): string | null {
  const direct = peer && normalizeIp(peer)
  if (env.trustProxy === 0 || !forwardedFor) return direct
  const forwarded = normalizeIp(forwardedFor.split(',').at(-env.trustProxy)?.trim() ?? '')
  if (forwarded === null) warnOfForwardedText()
  return forwarded ?? direct
}

/**
 * Creates the request id of an operation over a socket. A stream keeps it: as one text, and not as the parts that
 * `randomUUID` joins, which take ten times the memory.
 */
export const createRequestId = (): string => Buffer.from(randomUUID(), 'latin1').toString('latin1')

/** Returns the X-Request-Id that a trusted proxy set, or a new id, so that clients cannot choose it. */
function resolveRequestId(given: string | null): string {
  return env.trustProxy > 0 && given !== null && REQUEST_ID.test(given) ? given : randomUUID()
}

export type RequestMeta = Pick<Ctx, 'requestId' | 'ip' | 'userAgent'>

/** Read access to headers. */
export type HeaderReader = Pick<Headers, 'get'>

/** Reads the request id, IP address and user agent from the headers and the peer's address. */
export function readRequestMeta(headers: HeaderReader, peer: string | null): RequestMeta {
  return {
    requestId: resolveRequestId(headers.get('x-request-id')),
    ip: resolveClientIp(peer, headers.get('x-forwarded-for')),
    userAgent: headers.get('user-agent')?.slice(0, 500) ?? null,
  }
}

/**
 * Segments of the characters of slugs, ids and route names. Any other path (`//`, percent-encoding, `..`,
 * `;`, a trailing slash) is not found, so that no alternative spelling of a path bypasses a rule.
 */
const CANONICAL_PATH = /^(\/(?!\.{1,2}(\/|$))[A-Za-z0-9._~-]+)+$/

/** Path and query as they were sent, with the mark of the query. h3 decodes and resolves both, and includes the Host. */
function readTarget(event: H3Event): [path: string, query: string] {
  const target = event.runtime?.node?.req.url ?? event.url.pathname + event.url.search
  const mark = target.indexOf('?')
  return mark < 0 ? [target, ''] : [target.slice(0, mark), target.slice(mark)]
}

/** Whether the path was sent in its only accepted spelling. */
export const isCanonicalPath = (event: H3Event): boolean => CANONICAL_PATH.test(readTarget(event)[0])

/** Returns the query as it was sent. */
export const readQuery = (event: H3Event): URLSearchParams => new URLSearchParams(readTarget(event)[1])

declare module 'h3' {
  interface H3EventContext {
    requestMeta?: RequestMeta
  }
}

/** Returns the same of an h3 event: always the same object for one request. */
export function getRequestMeta(event: H3Event): RequestMeta {
  const { context, req } = event
  context.requestMeta ??= readRequestMeta(req.headers, getRequestIP(event) ?? null)
  return context.requestMeta
}

/**
 * The parts of a request that a DPoP proof covers (RFC 9449, section 4.2). The URL has the base URL, not the
 * Host header.
 */
export const toProvableRequest = ({ req, url }: H3Event) => ({
  proof: req.headers.get('dpop'),
  method: req.method,
  url: env.baseUrl + url.pathname,
})

/** Creates a JSON response. */
export const createJsonResponse = (
  body: object,
  { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
): Answer =>
  new Answer(JSON.stringify(body), status, [['content-type', 'application/json'], ...Object.entries(headers)])
