import { AsyncLocalStorage } from 'node:async_hooks'
import { env } from '../env.ts'

/** Whose call a request is, as a context names it. */
type Caller = {
  tenant: string
  requestId: string
  actor: { kind: string; clientId?: string | null; organizationId?: string | null }
}

/** The parts of an h3 event that are known when its response is. */
type RoutedEvent = { context: { matchedRoute?: { route?: string }; requestMeta?: { requestId: string } } }

/** Where in a trace something is (W3C Trace Context). Without spans, only its ids are passed on. */
export type TraceContext = { traceId: string; spanId: string; isSampled: boolean }

/** Names of operations that a caller chooses: longer ones may be secrets in the wrong place. */
const MAX_OPERATION_NAME = 40

/** What is noted of one request while it is answered, in the order of its work. It has no text of the request. */
export class RequestRecord {
  readonly method: string
  readonly #start = performance.now()
  /** The h3 event, which knows the template of the path. */
  event: RoutedEvent | undefined
  route: string | undefined
  tenant: string | undefined
  client: string | undefined
  organization: string | undefined
  operation: string | undefined
  /** Whether the document of the operation is trusted, so that its name is the program's. */
  isTrusted = false
  requestId: string | undefined
  /** The status of an answer that is written to the socket itself. */
  status: number | undefined
  /** The trace of the request; undefined without OpenTelemetry. */
  trace: TraceContext | undefined
  /** Its span, if it has spans. */
  span: (TraceContext & { end(facts?: object, error?: string, name?: string): void }) | undefined
  /** The spans below it. */
  spans = 0
  /** Whether it has a line whatever its status. */
  readonly isChosen = Math.random() < env.requestLog.share
  statements = 0
  databaseMs = 0

  constructor(method: string) {
    this.method = method
  }

  /** Milliseconds since its first byte was read. */
  get ms(): number {
    return performance.now() - this.#start
  }
}

/** Whether anything asks for records. If not, there is no AsyncLocalStorage: it costs each promise of the process. */
const storage =
  env.requestLog.share > 0 || env.requestLog.fromStatus !== undefined || env.tracing
    ? new AsyncLocalStorage<RequestRecord>()
    : undefined
/** Whether requests are recorded. */
export const isRecording = storage !== undefined

/** The record of the request that the caller works for; undefined when nothing is noted. */
export const findRecord = (): RequestRecord | undefined => storage?.getStore()

/** The record of a request that begins; undefined if it has neither a line nor a trace. */
export function createRecord(method: string | undefined): RequestRecord | undefined {
  const record = new RequestRecord(method ?? '-')
  return record.isChosen || env.requestLog.fromStatus !== undefined || env.tracing ? record : undefined
}

/** Calls `work`, whose notes, and those of what it starts, are of this record. */
export const runNoted = <Arguments extends unknown[], Result>(
  record: RequestRecord,
  work: (...given: Arguments) => Result,
  ...given: Arguments
): Result => (storage ? storage.run(record, work, ...given) : work(...given))

/** Notes the h3 event of a request. */
export function noteEvent(event: RoutedEvent): void {
  const record = findRecord()
  if (record) record.event = event
}

/** Notes the caller of a request: the first tenant, and the last client. */
export function noteCaller({ tenant, requestId, actor }: Caller): void {
  const record = findRecord()
  if (!record) return
  record.tenant ??= tenant
  record.requestId ??= requestId
  record.client = actor.clientId ?? record.client
  record.organization = actor.organizationId ?? record.organization
}

/** Notes the tenant of the path, once it is found. */
export function noteTenant(tenant: string): void {
  const record = findRecord()
  if (record) record.tenant ??= tenant
}

/** Notes the client of a request to sign in, which is not authenticated. */
export function noteClient(clientId: string): void {
  const record = findRecord()
  if (record) record.client = clientId
}

/** Notes the status of an answer that is written to the socket itself. */
export function noteStatus(status: number): void {
  const record = findRecord()
  if (record) record.status = status
}

/** Notes the name of a GraphQL operation, if its document is trusted or the name is short. */
export function noteOperation(record: RequestRecord, name: string | undefined): void {
  if (name && (record.isTrusted || name.length <= MAX_OPERATION_NAME)) record.operation ??= name
}
