import { randomBytes } from 'node:crypto'
import { env } from '../env.ts'
import { findRecord, RequestRecord, runNoted, type TraceContext } from './record.ts'
import type { OpenSpan, SpanFacts, SpanStart, Tracer } from './tracer.ts'

/** A request of a thousand statements is not shown better by more of them. */
const MAX_SPANS = 500
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:$|-)/
const ERROR_TYPE = /^[\w.-]{1,60}$/

let tracer: Tracer | undefined

/** Loads OpenTelemetry, if OTEL_EXPORTER_OTLP_ENDPOINT is set. */
export async function startTracing(): Promise<void> {
  if (env.tracing) tracer = (await import('./otel.ts')).createTracer()
}

/** Sends the spans that have ended, for at most a second. */
export const stopTracing = async (): Promise<void> => tracer?.stop()

/** Reads the header of W3C Trace Context; undefined when it is not valid. */
function readTraceparent(header: string | undefined): TraceContext | undefined {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(header ?? '') ?? []
  if (!traceId || !spanId || !flags) return undefined
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

const toTraceparent = ({ traceId, spanId, isSampled }: TraceContext): string =>
  `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`

/**
 * Begins the trace of a record, or continues that of the caller. Whether it has spans is decided here, unless
 * TRUST_TRACEPARENT lets the caller decide.
 */
export function beginTrace(record: RequestRecord, header: string | undefined, span: SpanStart): void {
  if (!tracer) return
  const parent = readTraceparent(header)
  const isSampled =
    parent && env.tracing?.trustsParent ? parent.isSampled : Math.random() < (env.tracing?.share ?? 0)
  if (isSampled) record.trace = record.span = tracer.start(parent && { ...parent, isSampled }, span)
  else
    record.trace = {
      traceId: parent?.traceId ?? randomBytes(16).toString('hex'),
      spanId: randomBytes(8).toString('hex'),
      isSampled,
    }
}

/** Begins a span within the request of the caller; undefined without one that has spans. */
export function startSpan(span: SpanStart): OpenSpan | undefined {
  const record = findRecord()
  if (!tracer || !record?.span || record.spans >= MAX_SPANS) return undefined
  record.spans += 1
  return tracer.start(record.span, span)
}

/** What kind of error it is: a code, such as an SQLSTATE, or a class. */
export function toErrorType(error: unknown): string {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown }
  return [code, name].map(String).find((text) => text !== 'undefined' && ERROR_TYPE.test(text)) ?? 'error'
}

/** Ends the span when `work` has ended. */
export async function endWith<Result>(span: OpenSpan | undefined, work: Promise<Result>): Promise<Result> {
  if (!span) return work
  try {
    const result = await work
    span.end()
    return result
  } catch (error) {
    span.end(undefined, toErrorType(error))
    throw error
  }
}

/** Calls `work` within a span. */
export const traced = <Result>(span: SpanStart, work: () => Promise<Result>): Promise<Result> =>
  endWith(startSpan(span), work())

/**
 * Sends a request to another server within a span, and passes the trace on in `headers`. The span has its host and no path
 * or query, which may have secrets.
 */
export async function tracedCall<Answer extends { status: number }>(
  { method, url, headers }: { method: string; url: URL; headers: Headers },
  send: () => Promise<Answer>,
): Promise<Answer> {
  const record = tracer && findRecord()
  if (!record?.trace) return send()
  const facts = { 'http.request.method': method, 'server.address': url.hostname }
  const span = startSpan({ name: method, kind: 'client', facts })
  headers.set('traceparent', toTraceparent(span ?? record.trace))
  try {
    const answer = await send()
    const isError = answer.status >= 400
    span?.end({ 'http.response.status_code': answer.status }, isError ? String(answer.status) : undefined)
    return answer
  } catch (error) {
    span?.end(undefined, toErrorType(error))
    throw error
  }
}

/** Calls work of the background with a trace of its own. */
export async function tracedAlone<Result>(
  name: string,
  facts: SpanFacts,
  work: () => Promise<Result>,
): Promise<Result> {
  if (!tracer) return work()
  const record = new RequestRecord('-')
  beginTrace(record, undefined, { name, kind: 'internal', facts })
  return endWith(record.span as OpenSpan | undefined, runNoted(record, work))
}
