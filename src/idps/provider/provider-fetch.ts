import type { FetchBody } from 'openid-client'
import { AppError } from '../../core/errors.ts'
import { FetchError, guardedFetch } from '../../core/network/fetcher.ts'
import type { ProviderCause } from '../../model/provider-causes.ts'
import { parseJsonObject } from '../answers/json.ts'
import { toUnavailable, type UnusableAnswer } from './provider-errors.ts'

type FetchInit = { method: string; headers: HeadersInit; body?: FetchBody; signal?: AbortSignal }

const FETCH_CAUSES = {
  refused: 'host not found',
  redirected: 'redirected elsewhere',
  unreachable: 'unreachable',
  slow: 'too slow',
  'too-large': 'too large',
} as const satisfies Record<FetchError['kind'], ProviderCause>

/** Codes of OpenSSL and Node for a certificate or a TLS connection that is not accepted. */
const TLS_CODE = /CERT|ERR_TLS|ERR_SSL|SELF_SIGNED|UNABLE_TO_(GET_ISSUER|VERIFY)|EPROTO/

/** The code of the system among the causes of an error; '' without one. */
function findSystemCode(thrown: unknown): string {
  for (let error = thrown; error instanceof Error; error = error.cause) {
    const { code } = error as NodeJS.ErrnoException
    if (typeof code === 'string' && code !== '') return code
  }
  return ''
}

function toFetchIssue(host: string, error: FetchError): UnusableAnswer {
  const code = findSystemCode(error.cause)
  if (TLS_CODE.test(code)) return toUnavailable('TLS failed', `${host}: ${code}`, error)
  // A name that is unknown and one at a private address are answered alike: the names of a private network stay unknown.
  if (error.kind === 'refused' || code === 'ENOTFOUND')
    return toUnavailable('host not found', `${host} has no public address that may be connected to`, error)
  return toUnavailable(FETCH_CAUSES[error.kind], error.message, error)
}

/**
 * Fetches through the guarded fetcher: the `customFetch` of openid-client. Throws Unavailable where the fetcher
 * answers nothing, and for the statuses 429 and 5xx.
 */
export async function fetchFromProvider(
  url: string,
  { method, headers, body, signal }: FetchInit,
): Promise<Response> {
  const { hostname } = new URL(url)
  try {
    const response = await guardedFetch(url, {
      method: method === 'POST' ? 'POST' : 'GET',
      headers,
      body: body?.toString(),
      signal,
    })
    if (response.status >= 500 || response.status === 429)
      throw toUnavailable('server error', `${hostname} answered ${response.status}`)
    return response
  } catch (error) {
    throw error instanceof FetchError ? toFetchIssue(hostname, error) : error
  }
}

/**
 * Awaits a call of openid-client. Throws what its customFetch threw, and Unavailable for every error of
 * openid-client, which are about an invalid answer.
 */
export async function awaitProvider<T>(call: Promise<T>): Promise<T> {
  try {
    return await call
  } catch (error) {
    if (error instanceof Error && error.cause instanceof AppError) throw error.cause
    throw toUnavailable('no access token', 'openid-client does not accept the answer', error)
  }
}

/** Reads the JSON object in an answer. Throws Unavailable for anything else. */
export async function readJsonObject(response: Response): Promise<Record<string, unknown>> {
  const type = response.headers.get('content-type') ?? 'no type'
  const body = parseJsonObject(await response.text())
  if (!body)
    throw toUnavailable(
      'not JSON',
      `an answer with status ${response.status} and ${type} is not a JSON object`,
    )
  return body
}

/** Fetches a published document: the JSON object of a successful answer. Throws Unavailable. */
export async function fetchDocument(url: string): Promise<Record<string, unknown>> {
  const response = await fetchFromProvider(url, { method: 'GET', headers: { accept: 'application/json' } })
  if (!response.ok) throw toUnavailable('unexpected status', `${url} answered ${response.status}`)
  return readJsonObject(response)
}
