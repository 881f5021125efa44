import type { Client } from 'graphql-sse'
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
import { fetchWithToken } from '../auth/sign-in.ts'
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

let streams: Promise<Client> | undefined
/** The client of event streams, which the first subscription loads. */
const getStreams = (): Promise<Client> => {
  streams ??= import('graphql-sse').then(({ createClient }) =>
    createClient({ url: GRAPHQL_URL, fetchFn: fetchWithToken, retryAttempts: Number.POSITIVE_INFINITY }),
  )
  return streams
}

const subscribe: SubscribeFunction = ({ text }, variables) =>
  Observable.create((sink) => {
    let dispose: () => void = () => {}
    let isClosed = false
    getStreams().then(
      (client) => {
        if (isClosed) return
        // A stream that is connected again continues after the last event that arrived.
        const request = { query: text ?? '', variables: { ...variables } }
        dispose = client.subscribe<Record<string, { position?: string } | null>>(request, {
          next: (result) => {
            const [event] = Object.values(result.data ?? {})
            if (event?.position) request.variables.after = event.position
            sink.next(result as GraphQLResponse)
          },
          error: (error) => sink.error(error instanceof Error ? error : new Error(String(error))),
          complete: () => sink.complete(),
        })
      },
      (error: Error) => sink.error(error),
    )
    return () => {
      isClosed = true
      dispose()
    }
  })

export const environment = new Environment({
  network: Network.create(fetchQuery, subscribe),
  store: new Store(new RecordSource(), { gcReleaseBufferSize: KEPT_QUERIES }),
})
