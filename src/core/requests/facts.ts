import type { RequestRecord } from './record.ts'

/** The facts of one finished request. Values have letters, digits and few signs only; none is text of the request. */
export type RequestFacts = {
  method: string
  /** The template of the path; `-` for a request without one. */
  route: string
  status: number
  ms: number
  databaseMs: number
  statements: number
  tenant?: string | undefined
  client?: string | undefined
  organization?: string | undefined
  operation?: string | undefined
  requestId?: string | undefined
  traceId?: string | undefined
  /** The connection was closed before the answer was sent. */
  broken?: true | undefined
}

/** A tenth of a millisecond is as exact as the clock of a busy process. */
const round = (ms: number): number => Math.round(ms * 10) / 10

/** What is known of a request at its end. */
export function toFacts(record: RequestRecord, status: number, isBroken: boolean): RequestFacts {
  const { event, method, tenant, client, organization, operation } = record
  return {
    method,
    route: record.route ?? event?.context.matchedRoute?.route ?? '-',
    status,
    ms: round(record.ms),
    databaseMs: round(record.databaseMs),
    statements: record.statements,
    tenant,
    client,
    organization,
    operation,
    requestId: event?.context.requestMeta?.requestId ?? record.requestId,
    traceId: record.trace?.traceId,
    ...(isBroken && { broken: true }),
  }
}
