import type { TraceContext } from './record.ts'

export type SpanFacts = Record<string, string | number | boolean | undefined>
type SpanKind = 'server' | 'client' | 'internal'

/** A span that has begun. `error` is a code or a class, never a message: messages quote values. */
export type OpenSpan = TraceContext & { end(facts?: SpanFacts, error?: string, name?: string): void }
export type SpanStart = { name: string; kind: SpanKind; facts?: SpanFacts; startTime?: number }
/** The SDK of OpenTelemetry, behind the little that the program needs of it. */
export type Tracer = {
  start: (parent: TraceContext | undefined, span: SpanStart) => OpenSpan
  stop: () => Promise<void>
}
