import type { FetchBody } from 'openid-client'
import { AppError, InvalidInput, Unavailable } from '../core/errors.ts'
import { FetchError, guardedFetch } from '../core/fetcher.ts'

/**
 * The error when a provider does not respond, or its response is invalid. `diagnostics` are for the log.
 */
export const toUnavailable = (diagnostics: string, cause?: unknown): Unavailable =>
  new Unavailable(
    'The identity provider did not respond, or its response is invalid; try again.',
    new Error(diagnostics, { cause }),
  )

/** The answer to a proof that the provider, or a check of what it signed, rejects. */
export const rejectProof = (field: string, description: string): InvalidInput =>
  new InvalidInput([{ field, description }])

type FetchInit = { method: string; headers: HeadersInit; body?: FetchBody; signal?: AbortSignal }

/**
 * Fetches through the guarded fetcher: the `customFetch` of openid-client and of jose. Throws Unavailable
 * where the fetcher answers nothing, and for the statuses 429 and 5xx.
 */
export async function fetchFromProvider(
  url: string,
  { method, headers, body, signal }: FetchInit,
): Promise<Response> {
  try {
    const response = await guardedFetch(url, {
      method: method === 'POST' ? 'POST' : 'GET',
      headers,
      body: body?.toString(),
      signal,
    })
    if (response.status >= 500 || response.status === 429)
      throw toUnavailable(`${new URL(url).hostname} answered ${response.status}`)
    return response
  } catch (error) {
    throw error instanceof FetchError ? toUnavailable(error.message, error.cause) : error
  }
}

/**
 * Awaits a call of openid-client. Throws what its customFetch threw, and Unavailable for every error of
 * openid-client, which are about an answer that is not as it should be.
 */
export async function awaitProvider<T>(call: Promise<T>): Promise<T> {
  try {
    return await call
  } catch (error) {
    if (error instanceof Error && error.cause instanceof AppError) throw error.cause
    throw toUnavailable('openid-client does not accept the answer', error)
  }
}

/** Reads the JSON object in an answer. Throws Unavailable for anything else. */
export async function readJsonObject(response: Response): Promise<Record<string, unknown>> {
  const body: unknown = await response.json().catch(() => null)
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw toUnavailable(`the answer with status ${response.status} is not a JSON object`)
  return body as Record<string, unknown>
}
