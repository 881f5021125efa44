import type { IncomingMessage } from 'node:http'
import { createRecord, isRecording, type RequestRecord } from './record.ts'
import { beginTrace } from './spans.ts'

/** Begins the record of a request, and its trace; undefined when nothing asks for them. */
export function beginRecord({ method, headers }: IncomingMessage): RequestRecord | undefined {
  const record = isRecording ? createRecord(method) : undefined
  if (record) {
    const { traceparent } = headers
    beginTrace(record, typeof traceparent === 'string' ? traceparent : undefined, {
      name: record.method,
      kind: 'server',
    })
  }
  return record
}
