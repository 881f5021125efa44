import { expect, test, vi } from 'vitest'

/** Traces of no request, unless a caller could have them. */
vi.hoisted(() =>
  Object.assign(process.env, {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
    OTEL_TRACES_SAMPLER_ARG: '0',
  }),
)

const { RequestRecord } = await import('../../src/core/requests/record.ts')
const { beginTrace, startTracing, stopTracing } = await import('../../src/core/requests/spans.ts')

test('the traceparent of a caller gives a request its trace id, and no spans unless it is trusted', async () => {
  await startTracing()
  const begin = (header: string | undefined) => {
    const record = new RequestRecord('GET')
    beginTrace(record, header, { name: 'GET', kind: 'server' })
    return record
  }
  const [traceId, spanId] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7']
  for (const header of [`00-${traceId}-${spanId}-01`, `cc-${traceId}-${spanId}-01-more`]) {
    expect(begin(header).trace).toMatchObject({ traceId, isSampled: false })
    expect(begin(header).span).toBeUndefined()
  }
  const hostile = [
    undefined,
    '',
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `ff-${traceId}-${spanId}-01`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${traceId}-${spanId}-01\r\nx: y`,
    'x'.repeat(8000),
  ]
  for (const header of hostile) {
    const { trace } = begin(header)
    expect(trace?.traceId).toMatch(/^[0-9a-f]{32}$/)
    expect(trace?.traceId).not.toBe(traceId)
  }
  await stopTracing()
})
