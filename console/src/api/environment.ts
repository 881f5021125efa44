import type { Client } from 'graphql-ws'
import {
  Environment,
  type FetchFunction,
  type GraphQLResponse,
  Network,
  Observable,
  RecordSource,
  Store,
  type SubscribeFunction,
} from 'relay-runtime'
import { createSocketParams, fetchWithToken, keepSocketNonce } from '../auth/sign-in.ts'
import { GRAPHQL_URL } from '../config.ts'

/** Pages that the cache keeps after the screen is left, so that Back shows them at once. */
const KEPT_QUERIES = 30

const fetchQuery: FetchFunction = async ({ text }, variables) => {
  const response = await fetchWithToken(GRAPHQL_URL, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/graphql-response+json' },
    body: JSON.stringify({ query: text, variables }),
  })
  return (await response.json()) as GraphQLResponse
}

/** The wait before an interrupted stream is asked for again, doubled each time. */
const FIRST_WAIT_MS = 100
const LAST_WAIT_MS = 30_000

let streams: Promise<Client> | undefined
/**
 * The WebSocket of all subscriptions, which the first one opens. A browser has six connections to a server over HTTP/1.1, so
 * that event streams of a few tabs would leave none for requests.
 */
const getStreams = (): Promise<Client> => {
  streams ??= import('graphql-ws').then(({ createClient }) =>
    createClient({
      url: GRAPHQL_URL.replace(/^http/, 'ws'),
      connectionParams: createSocketParams,
      retryAttempts: Number.POSITIVE_INFINITY,
      retryWait: (retries) =>
        new Promise((resolve) => setTimeout(resolve, Math.min(FIRST_WAIT_MS * 2 ** retries, LAST_WAIT_MS))),
      shouldRetry: () => true,
      on: { closed: (event) => keepSocketNonce((event as CloseEvent).reason) },
    }),
  )
  return streams
}

/** Whether the server will not answer otherwise when it is asked again. */
const isFinal = (error: unknown): boolean =>
  Array.isArray(error) && error.some(({ extensions }) => FINAL_CODES.has(extensions?.code))
const FINAL_CODES = new Set(['FORBIDDEN', 'GRAPHQL_VALIDATION_FAILED', 'BAD_USER_INPUT'])

const toError = (error: unknown): Error =>
  error instanceof Error
    ? error
    : new Error(Array.isArray(error) ? error[0]?.message : 'The stream has ended.')

/** A stream that is interrupted continues after the last event that arrived. */
const subscribe: SubscribeFunction = ({ text }, variables) =>
  Observable.create((sink) => {
    const request = { query: text ?? '', variables: { ...variables } }
    let isClosed = false
    let end: () => void = () => {}
    const start = (client: Client, waitMs: number): void => {
      let nextWaitMs = Math.min(2 * waitMs, LAST_WAIT_MS)
      const restart = () => {
        const timer = setTimeout(() => start(client, nextWaitMs), waitMs)
        end = () => clearTimeout(timer)
      }
      end = client.subscribe<Record<string, { position?: string } | null>>(request, {
        next: (result) => {
          // The server ends the stream after an error.
          if (!result.data) return isFinal(result.errors) && sink.error(toError(result.errors))
          nextWaitMs = FIRST_WAIT_MS
          const [event] = Object.values(result.data)
          if (event?.position) request.variables.after = event.position
          sink.next(result as GraphQLResponse)
        },
        error: (error) => (isFinal(error) ? sink.error(toError(error)) : restart()),
        // Streams have no end of their own.
        complete: () => isClosed || restart(),
      })
    }
    getStreams().then(
      (client) => isClosed || start(client, FIRST_WAIT_MS),
      (error: Error) => sink.error(error),
    )
    return () => {
      isClosed = true
      end()
    }
  })

export const environment = new Environment({
  network: Network.create(fetchQuery, subscribe),
  store: new Store(new RecordSource(), { gcReleaseBufferSize: KEPT_QUERIES }),
})
