import { lookup as lookupByDns } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import { env } from '../env.ts'
import { tracedCall } from '../requests/spans.ts'
import { isPublicAddress, parseIp } from './ip.ts'

/** The reason why a fetch failed. The message is for the log and not for API callers. */
export class FetchError extends Error {
  readonly kind: 'refused' | 'redirected' | 'unreachable' | 'slow' | 'too-large'

  constructor(kind: FetchError['kind'], message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'FetchError'
    this.kind = kind
  }
}

/** Total time of a fetch including redirects and body, and the size of its decoded body. */
const DEFAULT_TIMEOUT_MS = 10_000
const DEFAULT_MAX_BYTES = 1_000_000
const MAX_REDIRECTS = 3

export type FetchRules = {
  /** Which IP addresses may be connected to. */
  isAllowedAddress: (address: string) => boolean
  /** https only. */
  requireHttps: boolean
  timeoutMs?: number
  maxBytes?: number
  /** How many redirects of a GET are followed. */
  maxRedirects?: number
  /** Resolves a host name. Default: the resolver of the system. */
  resolve?: (host: string) => Promise<ResolvedAddress[]>
}
type ResolvedAddress = { address: string; family: number }

export type FetchInit = {
  method?: 'GET' | 'POST'
  headers?: HeadersInit
  body?: string
  signal?: AbortSignal
  /** Whether the response body is read. False where only the status counts: then its size is not limited. */
  readBody?: boolean
  /** So many bytes of the response body are read, and the rest is discarded. Absent: all, up to the limit. */
  keepBytes?: number
}
/**
 * Fetches like `fetch`, within the rules. Throws FetchError. The response body is read already, or discarded.
 */
export type GuardedFetch = (url: string | URL, init?: FetchInit) => Promise<Response>

const LOCALHOST_NAME = /^(.+\.)?localhost\.?$/
const stripBrackets = (host: string): string => host.replace(/^\[|\]$/g, '')

/** Why `url` must not be fetched, or null. Does not resolve the host name. */
export function findTargetIssue(
  url: URL,
  { isAllowedAddress: mayReach, requireHttps }: FetchRules = DEFAULT_RULES,
): string | null {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must be an http or https URL'
  if (requireHttps && url.protocol !== 'https:') return 'must be an https URL'
  if (url.username || url.password) return 'must not contain user information'
  const host = stripBrackets(url.hostname)
  // Connections to an IP address skip the lookup, so it is checked here. The address of localhost is known
  // (RFC 6761).
  const address = LOCALHOST_NAME.test(host) ? '127.0.0.1' : host
  if (parseIp(address) && !mayReach(address)) return 'must be on a public address'
  return null
}

const resolveBySystem = (host: string): Promise<ResolvedAddress[]> => lookupByDns(host, { all: true })

/**
 * The DNS lookup of a connection. The connection uses exactly the addresses that were checked, so DNS
 * rebinding between check and use is not possible. A name with any forbidden address is rejected as a whole.
 */
export const createGuardedLookup =
  ({ isAllowedAddress: mayReach, resolve = resolveBySystem }: FetchRules = DEFAULT_RULES): LookupFunction =>
  (host, options, callback) => {
    resolve(host).then(
      (addresses) => {
        const [first] = addresses
        if (!first || addresses.some(({ address }) => !mayReach(address)))
          return callback(new FetchError('refused', `${host} has no public address`), '', 0)
        if (options.all) return callback(null, addresses)
        callback(null, first.address, first.family)
      },
      (error: NodeJS.ErrnoException) => callback(error, '', 0),
    )
  }

/** Unwraps the FetchError from the errors in which undici wraps it. */
function toFetchError(host: string, thrown: unknown): FetchError {
  for (let error = thrown; error instanceof Error; error = error.cause) {
    if (error instanceof FetchError) return error
    if (error.name === 'TimeoutError' || error.name === 'AbortError')
      return new FetchError('slow', `${host} took too long`)
    const causes = (error as { errors?: unknown[] }).errors
    const inner = causes?.find((each) => each instanceof FetchError)
    if (inner) return inner as FetchError
  }
  return new FetchError('unreachable', `${host} could not be reached`, thrown)
}

/** Reads the beginning of a body. */
async function readBeginning(body: AsyncIterable<Uint8Array> | null, count: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    chunks.push(chunk)
    size += chunk.byteLength
    // Leaving the loop cancels the stream.
    if (size >= count) break
  }
  return Buffer.concat(chunks).subarray(0, count)
}

async function readUpTo(
  body: AsyncIterable<Uint8Array> | null,
  limit: number,
  host: string,
): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    size += chunk.byteLength
    // Leaving the loop cancels the stream.
    if (size > limit) throw new FetchError('too-large', `${host} returned more than ${limit} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const isRedirect = (status: number): boolean => [301, 302, 303, 307, 308].includes(status)
/** Statuses whose Response must not have a body. */
const BODILESS = [204, 205, 304]

/**
 * Creates a fetcher. Host names are resolved once per connection and checked there. Redirects of plain GET
 * requests are followed up to `maxRedirects`, each checked like the first URL; a request with a token or a
 * body is never redirected. Proxies of the environment are not used. No cookies or credentials are stored.
 */
export function createFetcher(rules: FetchRules): GuardedFetch & { close: () => Promise<void> } {
  const {
    timeoutMs: limitMs = DEFAULT_TIMEOUT_MS,
    maxBytes: limitBytes = DEFAULT_MAX_BYTES,
    maxRedirects = MAX_REDIRECTS,
  } = rules
  const connect = { lookup: createGuardedLookup(rules), timeout: limitMs }
  // Loaded on first use: most processes never call a provider, and undici costs 20 MB and 100 ms at the
  // start.
  const loadUndici = () =>
    import('undici').then(({ Agent, fetch }) => ({ send: fetch, agent: new Agent({ connect }) }))
  let loaded: ReturnType<typeof loadUndici> | undefined

  async function fetchOnce(url: URL, init: FetchInit, signal: AbortSignal): Promise<Response> {
    const issue = findTargetIssue(url, rules)
    if (issue) throw new FetchError('refused', `${url.hostname}: ${issue}`)
    const headers = new Headers(init.headers)
    headers.set('user-agent', 'vestibule')
    loaded ??= loadUndici()
    const { send, agent } = await loaded
    const method = init.method ?? 'GET'
    try {
      const response = await tracedCall({ method, url, headers }, () =>
        send(url, {
          method,
          headers: [...headers] as [string, string][],
          body: init.body,
          redirect: 'manual',
          dispatcher: agent,
          signal,
        }),
      )
      const { status } = response
      const content =
        init.readBody === false
          ? await response.body?.cancel()
          : init.keepBytes === undefined
            ? await readUpTo(response.body, limitBytes, url.hostname)
            : await readBeginning(response.body, init.keepBytes)
      return new Response(BODILESS.includes(status) || !content ? null : new Uint8Array(content), {
        status,
        headers: [...response.headers] as [string, string][],
      })
    } catch (error) {
      throw toFetchError(url.hostname, error)
    }
  }

  const fetchGuarded = async (url: string | URL, init: FetchInit = {}): Promise<Response> => {
    const limit = AbortSignal.timeout(limitMs)
    const signal = init.signal ? AbortSignal.any([init.signal, limit]) : limit
    const mayMove = (init.method ?? 'GET') === 'GET' && !new Headers(init.headers).has('authorization')
    let target = new URL(url)
    for (let moves = 0; ; moves += 1) {
      const response = await fetchOnce(target, init, signal)
      if (!isRedirect(response.status)) return response
      const location = response.headers.get('location') ?? ''
      if (!mayMove || moves === maxRedirects || !URL.canParse(location, target))
        throw new FetchError('redirected', `${target.hostname} redirects elsewhere`)
      target = new URL(location, target)
    }
  }
  return Object.assign(fetchGuarded, { close: async () => (await loaded)?.agent.close() })
}

const DEFAULT_RULES: FetchRules = {
  isAllowedAddress: env.fetchPrivate ? () => true : isPublicAddress,
  requireHttps: env.isProduction,
}

/**
 * Every request to a host that an API caller names, such as an upstream identity provider, goes through this
 * fetcher.
 */
export const guardedFetch: GuardedFetch = createFetcher(DEFAULT_RULES)

/** A person waits for the answer of the old system. */
export const PROOF_TIMEOUT_MS = 3000
const PROOF_LIMIT_BYTES = 4096

/** The fetcher for the proofUrl of a tenant: short, and without redirects. */
export const proofFetch: GuardedFetch = createFetcher({
  ...DEFAULT_RULES,
  timeoutMs: PROOF_TIMEOUT_MS,
  maxBytes: PROOF_LIMIT_BYTES,
  maxRedirects: 0,
})

const DOCUMENT_LIMIT_BYTES = 65_536

/** The fetcher for client metadata documents, which anonymous callers name: small, and without redirects. */
export const documentFetch: GuardedFetch = createFetcher({
  ...DEFAULT_RULES,
  maxBytes: DOCUMENT_LIMIT_BYTES,
  maxRedirects: 0,
})
