import type { ExecutionResult } from 'graphql'
import { isAsyncIterable, type Plugin, type YogaInitialContext } from 'graphql-yoga'
import { InvalidInput, UnsupportedMediaType } from '../errors.ts'
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
    const { requestId } = serverContext.ctx
    if (request.method === 'POST' && !JSON_TYPE.test(request.headers.get('content-type') ?? ''))
      throw toGraphQLError(new UnsupportedMediaType('application/json'), requestId)
    if (request.method !== 'GET' || !requestParser) return
    setRequestParser((input) => {
      try {
        return requestParser(input)
      } catch (error) {
        const fault = new InvalidInput([{ field: 'variables', description: 'is not valid JSON' }])
        throw error instanceof SyntaxError ? toGraphQLError(fault, requestId) : error
      }
    })
  },
  onParams({ context, setResult }) {
    // Before the document is looked at: a caller with a bad token learns nothing but that.
    if (context.fault) setResult({ errors: [toGraphQLError(context.fault, context.ctx.requestId)] })
  },
  onResultProcess({ request, result, setResult, setResultProcessor, serverContext }) {
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
    } else if (!Array.isArray(result) && result.errors)
      setResult({ ...result, errors: maskErrors(result.errors, requestId) })
  },
  onResponse({ response, serverContext }) {
    response.headers.set('x-request-id', (serverContext as unknown as GraphQLContext).ctx.requestId)
    response.headers.set('cache-control', 'no-store')
  },
}

const acceptsEventStream = (request: Request): boolean =>
  /(^|[\s,])(text\/event-stream|text\/\*|\*\/\*)/i.test(request.headers.get('accept') ?? '*/*')
