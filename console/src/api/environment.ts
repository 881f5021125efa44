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
import { createSocketParams, fetchWithToken, readSocketRejection, SignedOutError } from '../auth/sign-in.ts'
import { GRAPHQL_URL } from '../config.ts'
import { t } from '../words/words.ts'
import { ApiError, toApiError } from './api-error.ts'
import { reportConnection, reportGap, reportInterruption, reportSignOut } from './connection.ts'
import { loadDocumentText, preloadDocumentTexts } from './document-texts.ts'
import { keepScreenDocument } from './screen-document.ts'

/** Pages that the cache keeps after the screen is left, so that Back shows them at once. */
const KEPT_QUERIES = 30

/** The parameters of a request: a document or the id of one. */
type Params = { query?: string; documentId?: string; operationName?: string; variables: object }

/** Sends a document. Throws ApiError when there is no result. */
export async function executeDocument(params: Params): Promise<GraphQLResponse> {
  const response = await fetchWithToken(GRAPHQL_URL, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/graphql-response+json' },
    body: JSON.stringify(params),
  }).catch((error: unknown) => {
    // What `fetch` throws when there was no answer.
    if (error instanceof TypeError) throw new ApiError(t('The server was not reached.'))
    throw error
  })
  return (await response.json().catch(() => {
    throw new ApiError(
      t('The server answered with status {status}.', { status: response.status }),
      response.headers.get('x-request-id'),
    )
  })) as GraphQLResponse
}

/** Whether the server does not have a document: it is of another build. */
const isUnknownDocument = (errors: unknown): boolean =>
  Array.isArray(errors) && errors[0]?.extensions?.code === 'DOCUMENT_NOT_FOUND'

let preloads = true
/** Whether texts are sent, after the server did not know an id. */
let sendsTexts = false

/** Sends the id of a document of this build, or its text to a server that does not know it. */
async function executeById(id: string, operationName: string, variables: object): Promise<GraphQLResponse> {
  if (preloads) preloadDocumentTexts()
  preloads = false
  if (!sendsTexts) {
    const result = await executeDocument({ documentId: id, operationName, variables })
    if (!isUnknownDocument((result as Answer).errors)) return result
    sendsTexts = true
  }
  return executeDocument({ query: await loadDocumentText(id), variables })
}

type Answer = {
  data?: Readonly<Record<string, unknown>> | null
  errors?: readonly (Parameters<typeof toApiError>[0] & { path?: readonly (string | number)[] })[]
}

/**
 * The error that leaves nothing to show. A screen leaves out the parts that the viewer may not read, and says that an object
 * does not exist, also if the id in the URL is not one.
 */
const findError = ({ data, errors = [] }: Answer, isQuery: boolean) =>
  data
    ? errors.find(
        ({ path: [root = ''] = [], extensions: { code, fields } = {} }) =>
          isQuery &&
          data[root] === null &&
          code !== 'FORBIDDEN' &&
          !fields?.some(({ field }) => field === 'id'),
      )
    : errors[0]

const fetchQuery: FetchFunction = async ({ id, name, operationKind }, variables) => {
  if (operationKind === 'query') keepScreenDocument(name, { id: id ?? '', variables })
  const result = await executeById(id ?? '', name, variables)
  const error = findError(result as Answer, operationKind === 'query')
  if (error) throw toApiError(error)
  return result
}

/** The wait before an interrupted stream is asked for again, doubled each time. */
const FIRST_WAIT_MS = 100
const LAST_WAIT_MS = 30_000

const PING_MS = 15_000
const ANSWER_MS = 5000
/** A close code for private use (RFC 6455, section 7.4.2): the server was silent. */
const SILENT_CODE = 4408

let socket: WebSocket | undefined
let silence: ReturnType<typeof setTimeout> | undefined
let streams: Promise<Client> | undefined
/** Streams of the present screen. */
let running = 0
/**
 * The WebSocket of all subscriptions, which the first one opens. A browser has six connections to a server over HTTP/1.1, so
 * that event streams of a few tabs would leave none for requests.
 */
export const getStreams = (): Promise<Client> => {
  streams ??= import('graphql-ws').then(({ createClient }) =>
    createClient({
      url: GRAPHQL_URL.replace(/^http/, 'ws'),
      connectionParams: () =>
        createSocketParams().catch((error: unknown) => {
          if (error instanceof SignedOutError) reportSignOut()
          throw error
        }),
      keepAlive: PING_MS,
      retryAttempts: Number.POSITIVE_INFINITY,
      retryWait: (retries) =>
        new Promise((resolve) => setTimeout(resolve, Math.min(FIRST_WAIT_MS * 2 ** retries, LAST_WAIT_MS))),
      shouldRetry: () => true,
      on: {
        opened: (opened) => {
          socket = opened as WebSocket
        },
        // After a sleep or a change of the network, the browser does not notice that nobody answers.
        ping: (isReceived) => {
          if (!isReceived) silence = setTimeout(() => socket?.close(SILENT_CODE, t('No answer')), ANSWER_MS)
        },
        pong: (isReceived) => {
          if (isReceived) clearTimeout(silence)
        },
        connected: reportConnection,
        closed: (event) => {
          clearTimeout(silence)
          readSocketRejection(event as CloseEvent)
          // Without a stream, the client closes the socket.
          if (running > 0) reportInterruption()
        },
      },
    }),
  )
  return streams
}

/** Whether the server will not answer otherwise when it is asked again. */
const isFinal = (error: unknown): boolean =>
  Array.isArray(error) && error.some(({ extensions }) => FINAL_CODES.has(extensions?.code))
const FINAL_CODES = new Set(['FORBIDDEN', 'GRAPHQL_VALIDATION_FAILED', 'BAD_USER_INPUT'])

const toError = (error: unknown): Error => {
  if (error instanceof Error) return error
  return Array.isArray(error) && error[0] ? toApiError(error[0]) : new ApiError(t('The stream has ended.'))
}

/** A stream that is interrupted continues after the last event that arrived. */
const subscribe: SubscribeFunction = ({ id, name }, variables) =>
  Observable.create((sink) => {
    // graphql-ws has no form for an id: it is beside an empty document.
    const request: Params & { query: string; variables: Record<string, unknown> } = {
      query: '',
      documentId: id ?? '',
      operationName: name,
      variables: { ...variables },
    }
    const sendText = async () => {
      request.query = await loadDocumentText(id ?? '')
      delete request.documentId
    }
    let isClosed = false
    running += 1
    let end: () => void = () => {}
    const start = (client: Client, waitMs: number): void => {
      let nextWaitMs = Math.min(2 * waitMs, LAST_WAIT_MS)
      const restart = () => {
        const timer = setTimeout(() => start(client, nextWaitMs), waitMs)
        end = () => clearTimeout(timer)
      }
      end = client.subscribe<Record<string, { __typename?: string; position?: string } | null>>(request, {
        next: (result) => {
          // The server ends the stream after an error.
          if (!result.data) return isFinal(result.errors) && sink.error(toError(result.errors))
          nextWaitMs = FIRST_WAIT_MS
          const [event] = Object.values(result.data)
          if (event?.position) request.variables.after = event.position
          if (event?.__typename === 'EventGap') reportGap()
          sink.next(result as GraphQLResponse)
        },
        error: (error) => {
          if (isFinal(error)) sink.error(toError(error))
          else if (isUnknownDocument(error)) sendText().then(restart, (failure: Error) => sink.error(failure))
          else restart()
        },
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
      running -= 1
      end()
      // A screen without streams is not interrupted.
      if (running === 0) reportConnection()
    }
  })

export const environment = new Environment({
  network: Network.create(fetchQuery, subscribe),
  store: new Store(new RecordSource(), { gcReleaseBufferSize: KEPT_QUERIES }),
})
