import type { ServerResponse } from 'node:http'
import { toFacts } from './facts.ts'
import { writeRequestLine } from './lines.ts'
import type { RequestRecord } from './record.ts'

/** The status of a request whose client was gone before it was answered, as proxies log it. */
const CLIENT_GONE = 499

/** Reports a request that has ended. */
export function endRecord(record: RequestRecord, status: number, isBroken = false): void {
  writeRequestLine(toFacts(record, status, isBroken))
}

/** Reports a request whose response is closed. */
export function endResponse(record: RequestRecord, response: ServerResponse): void {
  const sent = response.headersSent ? response.statusCode : CLIENT_GONE
  endRecord(record, record.status ?? sent, !response.writableFinished)
}
