import {
  type Attributes,
  DiagLogLevel,
  diag,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources'
import { AlwaysOnSampler, BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { log } from '../log.ts'
import type { TraceContext } from './record.ts'
import type { OpenSpan, SpanStart, Tracer } from './tracer.ts'

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL }
const STOP_MS = 1000

const ignore = () => {}
/** The reason may quote the address of the collector, which may have a secret. */
const warn = () => log.warn('spans could not be sent to OTEL_EXPORTER_OTLP_ENDPOINT')

const toContext = ({ traceId, spanId }: TraceContext) =>
  trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: TraceFlags.SAMPLED })

/**
 * Opens the SDK, which reads its own variables (`OTEL_*`): endpoint, headers, resource, batches. This is the only module
 * that imports OpenTelemetry; it is loaded only if traces are on. Spans that the collector does not take in time are dropped.
 */
export function createTracer(): Tracer {
  diag.setLogger(
    { error: warn, warn: ignore, info: ignore, debug: ignore, verbose: ignore },
    DiagLogLevel.ERROR,
  )
  const own = resourceFromAttributes({ 'service.name': 'vestibule' })
  const provider = new BasicTracerProvider({
    resource: defaultResource()
      .merge(own)
      .merge(detectResources({ detectors: [envDetector] })),
    // Only spans of chosen requests are made: see beginTrace.
    sampler: new AlwaysOnSampler(),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  })
  const spans = provider.getTracer('vestibule')
  return {
    start(parent, { name, kind, facts, startTime }: SpanStart): OpenSpan {
      const attributes = facts as Attributes | undefined
      const options = { kind: KINDS[kind], attributes, startTime }
      const span = spans.startSpan(name, options, parent ? toContext(parent) : ROOT_CONTEXT)
      const { traceId, spanId } = span.spanContext()
      return {
        traceId,
        spanId,
        isSampled: true,
        end(endFacts, error, endName) {
          if (endName) span.updateName(endName)
          if (endFacts) span.setAttributes(endFacts as Attributes)
          if (error) span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute('error.type', error)
          span.end()
        },
      }
    },
    stop: async () => {
      const timer = setTimeout(() => {}, STOP_MS)
      await Promise.race([
        provider.shutdown().catch(ignore),
        new Promise((resolve) => setTimeout(resolve, STOP_MS).unref()),
      ])
      clearTimeout(timer)
    },
  }
}
