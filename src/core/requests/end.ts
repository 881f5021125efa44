import type { ServerResponse } from 'node:http'
import { type RequestFacts, toFacts } from './facts.ts'
import { writeRequestLine } from './lines.ts'
import type { RequestRecord } from './record.ts'
import type { SpanFacts } from './tracer.ts'

/** The status of a request whose client was gone before it was answered, as proxies log it. */
const CLIENT_GONE = 499

const toSpanFacts = (facts: RequestFacts): SpanFacts => ({
  'http.request.method': facts.method,
  'http.route': facts.route,
  'http.response.status_code': facts.status,
  'vestibule.tenant': facts.tenant,
  'vestibule.client': facts.client,
  'vestibule.organization': facts.organization,
  'vestibule.request_id': facts.requestId,
  'vestibule.broken': facts.broken,
})

/** Reports a request that has ended. */
export function endRecord(record: RequestRecord, status: number, isBroken = false): void {
  const facts = toFacts(record, status, isBroken)
  writeRequestLine(facts, record.isChosen)
  record.span?.end(
    toSpanFacts(facts),
    status >= 500 ? String(status) : undefined,
    `${facts.method} ${facts.route}`,
  )
}

/** Reports a request whose response is closed. */
export function endResponse(record: RequestRecord, response: ServerResponse): void {
  const sent = response.headersSent ? response.statusCode : CLIENT_GONE
  endRecord(record, record.status ?? sent, !response.writableFinished)
}
