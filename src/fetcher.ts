import { lookup as lookupByDns } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import { env } from './env.ts'

/** Why nothing was fetched. The message is for the log; callers of the platform are told less. */
export class FetchFault extends Error {
  readonly kind: 'refused' | 'unreachable' | 'slow' | 'too-large'

  constructor(kind: FetchFault['kind'], message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'FetchFault'
    this.kind = kind
  }
}

/** How long a fetch may take in all, redirects and body included, and how large its body may be once decoded. */
const LIMIT_MS = 10_000
const LIMIT_BYTES = 1_000_000
const MAX_REDIRECTS = 3

export type FetchRules = {
  /** Which IP addresses may be connected to. */
  mayReach: (address: string) => boolean
  /** https only. */
  requireHttps: boolean
  limitMs?: number
  limitBytes?: number
  /** How many redirects of a GET are followed. */
  maxRedirects?: number
  /** Looks a host name up; the system's resolver unless told. */
  resolve?: (host: string) => Promise<Address[]>
}
type Address = { address: string; family: number }

export type FetchInit = {
  method?: 'GET' | 'POST'
  headers?: HeadersInit
  body?: string
  signal?: AbortSignal
  /** Whether the answer's body is read; where only the status counts, its length is the other side's affair. */
  readBody?: boolean
}
/** Fetches like `fetch`, within the rules. Throws FetchFault. The answer's body has been read, or left. */
export type GuardedFetch = (url: string | URL, init?: FetchInit) => Promise<Response>

/** Where IPv6 hands out addresses that are routed worldwide. What stands outside may embed an IPv4 address. */
const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number]

/** Whether an address is one of the public internet: not private, loopback, link-local, shared or reserved, in whatever notation. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address) // unwraps IPv4 inside IPv6
  if (parsed.range() !== 'unicast') return false
  return parsed.kind() === 'ipv4' || (parsed as ipaddr.IPv6).match(GLOBAL_IPV6)
}

const THIS_MACHINE = /^(.+\.)?localhost\.?$/
const unbracketed = (host: string): string => host.replace(/^\[|\]$/g, '')

/** Why `url` must not be fetched, as far as it can be told without looking its name up, or null. */
export function targetFault(url: URL, { mayReach, requireHttps }: FetchRules = RULES): string | null {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must be an http or https URL'
  if (requireHttps && url.protocol !== 'https:') return 'must be an https URL'
  if (url.username || url.password) return 'must not contain user information'
  const host = unbracketed(url.hostname)
  // Connections to an address skip the lookup, so that it is judged here; of this machine's name it is known (RFC 6761).
  const address = THIS_MACHINE.test(host) ? '127.0.0.1' : host
  if (ipaddr.isValid(address) && !mayReach(address)) return 'must be on a public address'
  return null
}

const resolveBySystem = (host: string): Promise<Address[]> => lookupByDns(host, { all: true })

/**
 * The lookup of a connection: what it answers is what is connected to, so that a name cannot mean one address when it
 * is judged and another when it is used. A name with any address that may not be reached is refused wholly.
 */
const guardedLookup =
  ({ mayReach, resolve = resolveBySystem }: FetchRules): LookupFunction =>
  (host, options, callback) => {
    resolve(host).then(
      (addresses) => {
        const [first] = addresses
        if (!first || addresses.some(({ address }) => !mayReach(address)))
          return callback(new FetchFault('refused', `${host} has no public address`), '', 0)
        if (options.all) return callback(null, addresses)
        callback(null, first.address, first.family)
      },
      (error: NodeJS.ErrnoException) => callback(error, '', 0),
    )
  }

/** The fault inside what undici threw, however deep it wrapped it. */
function toFault(host: string, thrown: unknown): FetchFault {
  for (let error = thrown; error instanceof Error; error = error.cause) {
    if (error instanceof FetchFault) return error
    if (error.name === 'TimeoutError' || error.name === 'AbortError')
      return new FetchFault('slow', `${host} took too long`)
    const causes = (error as { errors?: unknown[] }).errors
    const inner = causes?.find((each) => each instanceof FetchFault)
    if (inner) return inner as FetchFault
  }
  return new FetchFault('unreachable', `${host} could not be reached`, thrown)
}

async function readWithin(
  body: AsyncIterable<Uint8Array> | null,
  limit: number,
  host: string,
): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    size += chunk.byteLength
    // Leaving the loop cancels the stream.
    if (size > limit) throw new FetchFault('too-large', `${host} answered more than ${limit} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const isRedirect = (status: number): boolean => [301, 302, 303, 307, 308].includes(status)
/** Statuses whose Response must not have a body. */
const BODILESS = [204, 205, 304]

/**
 * Makes a fetcher. Names are looked up once a connection and judged there; redirects of plain GETs are followed by
 * hand, three at most unless told, each judged like the first; what carries a token or a body is never redirected. Proxies of the
 * environment are not used, and no cookie or credential is kept.
 */
export function createFetcher(rules: FetchRules): GuardedFetch & { close: () => Promise<void> } {
  const { limitMs = LIMIT_MS, limitBytes = LIMIT_BYTES, maxRedirects = MAX_REDIRECTS } = rules
  const connect = { lookup: guardedLookup(rules), timeout: limitMs }
  // Most processes never ask a provider: 20 MB and a tenth of a second that a start does without.
  const load = () =>
    import('undici').then(({ Agent, fetch }) => ({ send: fetch, agent: new Agent({ connect }) }))
  let loaded: ReturnType<typeof load> | undefined

  async function fetchOnce(url: URL, init: FetchInit, signal: AbortSignal): Promise<Response> {
    const fault = targetFault(url, rules)
    if (fault) throw new FetchFault('refused', `${url.hostname}: ${fault}`)
    const headers = new Headers(init.headers)
    headers.set('user-agent', 'vestibule')
    loaded ??= load()
    const { send, agent } = await loaded
    try {
      const answer = await send(url, {
        method: init.method ?? 'GET',
        headers: [...headers] as [string, string][],
        body: init.body,
        redirect: 'manual',
        dispatcher: agent,
        signal,
      })
      const { status } = answer
      const content =
        init.readBody === false
          ? await answer.body?.cancel()
          : await readWithin(answer.body, limitBytes, url.hostname)
      return new Response(BODILESS.includes(status) || !content ? null : new Uint8Array(content), {
        status,
        headers: [...answer.headers] as [string, string][],
      })
    } catch (error) {
      throw toFault(url.hostname, error)
    }
  }

  const guarded = async (url: string | URL, init: FetchInit = {}): Promise<Response> => {
    const limit = AbortSignal.timeout(limitMs)
    const signal = init.signal ? AbortSignal.any([init.signal, limit]) : limit
    const mayMove = (init.method ?? 'GET') === 'GET' && !new Headers(init.headers).has('authorization')
    let target = new URL(url)
    for (let moves = 0; ; moves += 1) {
      const response = await fetchOnce(target, init, signal)
      if (!isRedirect(response.status)) return response
      const location = response.headers.get('location') ?? ''
      if (!mayMove || moves === maxRedirects || !URL.canParse(location, target))
        throw new FetchFault('refused', `${target.hostname} redirects elsewhere`)
      target = new URL(location, target)
    }
  }
  return Object.assign(guarded, { close: async () => (await loaded)?.agent.close() })
}

const RULES: FetchRules = {
  mayReach: env.fetchPrivate ? () => true : isPublicAddress,
  requireHttps: env.isProduction,
}

/** The one way out to hosts that callers name, such as identity providers. Never used for pictures and logos. */
export const guardedFetch: GuardedFetch = createFetcher(RULES)

const DOCUMENT_LIMIT_BYTES = 65_536

/** The same for metadata documents that anybody may name: these are small, and where they are said to be. */
export const documentFetch: GuardedFetch = createFetcher({
  ...RULES,
  limitBytes: DOCUMENT_LIMIT_BYTES,
  maxRedirects: 0,
})
