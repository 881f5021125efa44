import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ExecutionResult } from 'graphql'
import {
  type FetchAPI,
  type GraphQLParams,
  isAsyncIterable,
  type Plugin,
  type YogaInitialContext,
} from 'graphql-yoga'
import { addResourceMetadata } from '../access/protected-resources.ts'
import { toBudgetHeaders } from '../coordination/call-budget.ts'
import { AppError, InvalidInput, UnsupportedMediaType } from '../core/errors.ts'
import { parseExactJson } from '../core/json/exact-json.ts'
import { toAppError } from '../core/to-app-error.ts'
import { resumeTurn } from '../core/turns.ts'
import { REPLAYED_HEADER } from '../http/idempotency.ts'
import { JSON_LIMIT_BYTES, readBytes } from '../http/request-body.http.ts'
import type { GraphQLContext } from './context.ts'
import { maskErrors, toGraphQLError } from './error-masking.ts'
import { DOCUMENT_ID_PARAMS, type FindConsoleDocument, resolveDocument } from './limits/requested-document.ts'
import { toServerSentEvents } from './live/sse.ts'

const EVENT_STREAM = 'text/event-stream'
const RESULT_TYPES = 'application/graphql-response+json, application/json'

/**
 * Answers a request that accepts no media type of the result with 406 and those types. Yoga would repeat them for each
 * type that the request accepts.
 */
const rejectMediaTypes = (_result: unknown, { Response }: FetchAPI, accept?: string): Response =>
  new Response(null, {
    status: 406,
    statusText: 'Not Acceptable',
    headers: { accept: accept ?? RESULT_TYPES },
  })

const JSON_TYPE = /^application\/json\s*(;|$)/i

/**
 * Yoga plugin for requests over HTTP: media types, request bodies, event streams and response headers.
 *
 * No CSRF header is required: POST accepts application/json only, which browsers send cross-origin only after
 * a preflight (and CORS is disabled), GET executes queries only, and no cookie is read.
 */
export const createHttpRules = (
  findConsoleDocument: FindConsoleDocument,
): Plugin<GraphQLContext & YogaInitialContext, GraphQLContext> => ({
  onRequestParse({ request, serverContext, requestParser, setRequestParser }) {
    const { ctx, req } = serverContext as unknown as GraphQLContext & { req?: IncomingMessage }
    const toRejection = (error: AppError) => toGraphQLError(error, ctx.requestId)
    if (request.method === 'POST' && !JSON_TYPE.test(request.headers.get('content-type') ?? ''))
      throw toRejection(new UnsupportedMediaType('application/json'))
    if (!requestParser) return
    if (request.method === 'POST' && req) {
      // Read from Node's request: Yoga's web stream takes a fifth of the time of a small query.
      const readBodyBytes = () =>
        readBytes(req, JSON_LIMIT_BYTES).catch((error) => Promise.reject(toRejection(toAppError(error))))
      const readJsonBody = async () => {
        const bytes = await readBodyBytes()
        await resumeTurn({ tenant: ctx.tenant, workload: 'change' })
        return parseExactJson(bytes.toString('utf8'))
      }
      setRequestParser(() => requestParser({ json: readJsonBody } as Request))
    }
    if (request.method !== 'GET') return
    setRequestParser((input) => {
      try {
        return { ...keepNumbers(requestParser(input) as GraphQLParams, input), ...readDocumentId(input) }
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error
        const fields = listInvalidParameters(request.url)
        throw toRejection(
          new InvalidInput(fields.map((field) => ({ field, description: 'is not valid JSON' }))),
        )
      }
    })
  },
  async onParams({ context, params, setParams }) {
    // Before the parameters are checked, so that a caller with an invalid token learns nothing about them.
    if (context.rejection) throw toGraphQLError(context.rejection, context.ctx.requestId)
    const resolved = await resolveDocument(params, context.ctx, findConsoleDocument).catch(
      (error: unknown) => {
        throw error instanceof AppError ? toGraphQLError(error, context.ctx.requestId) : error
      },
    )
    // Several clients send an empty name for an operation without a name.
    const { operationName } = (resolved ?? {}) as GraphQLParams
    setParams({ ...(resolved as GraphQLParams), ...(operationName === '' && { operationName: undefined }) })
  },
  onResultProcess({ request, result, resultProcessor, setResult, setResultProcessor, serverContext }) {
    const { call } = serverContext
    const { requestId } = serverContext.ctx
    if (isAsyncIterable(result)) {
      if (!acceptsEventStream(request)) {
        // It would count as an open subscription until its token expires.
        void (result as AsyncGenerator<ExecutionResult>).return(undefined)
        return setResultProcessor(rejectMediaTypes, EVENT_STREAM)
      }
      setResultProcessor((results, fetchAPI) => {
        const body = toServerSentEvents(results as AsyncGenerator<ExecutionResult>, serverContext, () =>
          closeAfterStream(serverContext),
        )
        return new fetchAPI.Response(body, {
          headers: { 'content-type': EVENT_STREAM, 'x-accel-buffering': 'no' },
        })
      }, EVENT_STREAM)
      return
    }
    if (!resultProcessor) setResultProcessor(rejectMediaTypes, RESULT_TYPES)
    if (!Array.isArray(result) && result.errors && !call.isMasked)
      setResult({ ...result, errors: maskErrors(result.errors, requestId) })
  },
  onResponse({ response, serverContext }) {
    const { ctx, call } = serverContext as unknown as GraphQLContext
    const headers = {
      'x-request-id': ctx.requestId,
      'cache-control': 'no-store',
      ...toBudgetHeaders(call.budget),
      ...(call.isReplayed && REPLAYED_HEADER),
      ...(call.nextNonce && { 'dpop-nonce': call.nextNonce }),
    }
    for (const [name, value] of Object.entries(headers)) response.headers.set(name, value)
    const challenge = response.headers.get('www-authenticate')
    if (challenge)
      response.headers.set('www-authenticate', addResourceMetadata(challenge, ctx.tenant, 'graphql'))
  },
})

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** The parameters of a GET request that should be JSON and are not. */
function listInvalidParameters(url: string): string[] {
  const { searchParams } = new URL(url)
  return ['variables', 'extensions'].filter((name) => !isJson(searchParams.get(name) || '{}'))
}

/** The id of a document in a URL. */
function readDocumentId({ url }: Request): Record<string, string> {
  const { searchParams } = new URL(url)
  return Object.fromEntries(
    DOCUMENT_ID_PARAMS.flatMap((name) => {
      const id = searchParams.get(name)
      return id === null ? [] : [[name, id]]
    }),
  )
}

/** Parses the variables of a URL again where a number would have changed. */
function keepNumbers(params: GraphQLParams, { url }: Request): GraphQLParams {
  if (!params.variables) return params
  const variables = new URL(url).searchParams.get('variables') ?? ''
  return { ...params, variables: parseExactJson(variables) as GraphQLParams['variables'] }
}

/** How long a client may take to read the end of its stream. */
const DRAIN_TIMEOUT_MS = 5000

/** Closes the connection of a client that does not read the end of its stream. */
function closeAfterStream(context: object): void {
  const { res } = context as { res?: ServerResponse }
  setTimeout(() => res?.destroy(), DRAIN_TIMEOUT_MS).unref()
}

const acceptsEventStream = (request: Request): boolean =>
  /(^|[\s,])(text\/event-stream|text\/\*|\*\/\*)/i.test(request.headers.get('accept') ?? '*/*')
