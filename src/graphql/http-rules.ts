import type { IncomingMessage } from 'node:http'
import type { ExecutionResult } from 'graphql'
import { isAsyncIterable, type Plugin, type YogaInitialContext } from 'graphql-yoga'
import { budgetHeaders } from '../call-budget.ts'
import { type AppError, describeError, InvalidInput, UnsupportedMediaType } from '../errors.ts'
import { JSON_LIMIT_BYTES, readBytes } from '../http.ts'
import { REPLAYED } from '../idempotency.ts'
import type { GraphQLContext } from './context.ts'
import { maskErrors, toGraphQLError } from './masking.ts'
import { eventStream } from './sse.ts'

const JSON_TYPE = /^application\/json\s*(;|$)/i

/**
 * What holds for HTTP only.
 * No CSRF header is asked for: POST takes application/json alone, which browsers send across sites after a preflight
 * only (and CORS is off); GET runs queries alone; and nothing here reads a cookie.
 */
export const httpRules: Plugin<GraphQLContext & YogaInitialContext, GraphQLContext> = {
  onRequestParse({ request, serverContext, requestParser, setRequestParser }) {
    const { ctx, req } = serverContext as unknown as GraphQLContext & { req?: IncomingMessage }
    const refuse = (error: AppError) => toGraphQLError(error, ctx.requestId)
    if (request.method === 'POST' && !JSON_TYPE.test(request.headers.get('content-type') ?? ''))
      throw refuse(new UnsupportedMediaType('application/json'))
    if (!requestParser) return
    if (request.method === 'POST' && req) {
      // Read from Node's own request: Yoga's web stream over it costs a fifth of a small query.
      const bytes = () =>
        readBytes(req, JSON_LIMIT_BYTES).catch((error) => Promise.reject(refuse(describeError(error))))
      const json = async () => JSON.parse((await bytes()).toString('utf8'))
      setRequestParser(() => requestParser({ json } as Request))
    }
    if (request.method !== 'GET') return
    setRequestParser((input) => {
      try {
        return requestParser(input)
      } catch (error) {
        const fault = new InvalidInput([{ field: 'variables', description: 'is not valid JSON' }])
        throw error instanceof SyntaxError ? refuse(fault) : error
      }
    })
  },
  onParams({ context, setResult }) {
    // Before the document is looked at: a caller with a bad token learns nothing but that.
    if (context.fault) setResult({ errors: [toGraphQLError(context.fault, context.ctx.requestId)] })
  },
  onResultProcess({ request, result, setResult, setResultProcessor, serverContext }) {
    const { call } = serverContext
    const { requestId } = serverContext.ctx
    if (isAsyncIterable(result)) {
      if (!acceptsEventStream(request)) return
      const start = serverContext.position
      setResultProcessor((results, fetchAPI) => {
        const body = eventStream(results as AsyncGenerator<ExecutionResult>, start, requestId)
        return new fetchAPI.Response(body, {
          headers: { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' },
        })
      }, 'text/event-stream')
    } else if (!Array.isArray(result) && result.errors && !call.isMasked)
      setResult({ ...result, errors: maskErrors(result.errors, requestId) })
  },
  onResponse({ response, serverContext }) {
    const { ctx, call } = serverContext as unknown as GraphQLContext
    const headers = {
      'x-request-id': ctx.requestId,
      'cache-control': 'no-store',
      ...budgetHeaders(call.budget),
      ...(call.isReplayed && REPLAYED),
      ...(call.nextNonce && { 'dpop-nonce': call.nextNonce }),
    }
    for (const [name, value] of Object.entries(headers)) response.headers.set(name, value)
  },
}

const acceptsEventStream = (request: Request): boolean =>
  /(^|[\s,])(text\/event-stream|text\/\*|\*\/\*)/i.test(request.headers.get('accept') ?? '*/*')
