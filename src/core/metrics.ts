import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client'

/** The metrics of this process. */
export const registry = new Registry()
collectDefaultMetrics({ register: registry })

const requestSeconds = new Histogram({
  name: 'vestibule_http_request_seconds',
  help: 'Time from the first byte of a request to the last byte of its response.',
  labelNames: ['surface', 'method', 'status'],
  buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
  registers: [registry],
})

const limitedStorage = new Counter({
  name: 'vestibule_storage_limited_total',
  help: 'What was not stored, because the budget of a network or of a tenant was used up.',
  labelNames: ['budget', 'what', 'reason'],
  registers: [registry],
})

/** Counts what was not stored. The labels have fixed values, never text of a request. */
export const countLimitedStorage = (labels: { budget: string; what: string; reason: string }): void =>
  limitedStorage.inc(labels)

const limited = new Counter({
  name: 'vestibule_limited_total',
  help: 'What was rejected, because a network or a tenant had reached a limit.',
  labelNames: ['limit'],
  registers: [registry],
})

/** Counts what a limit rejected. `limit` is the name of the limit. */
export const countLimited = (limit: string): void => limited.inc({ limit })

const droppedLines = new Counter({
  name: 'vestibule_request_lines_dropped_total',
  help: 'Lines of requests that standard output did not take in time.',
  registers: [registry],
})

/** Counts a line of a request that was not written. */
export const countDroppedLine = (): void => droppedLines.inc()

const plainQueries = new Counter({
  name: 'vestibule_graphql_plain_queries_total',
  help: 'GraphQL queries that were not compiled: with directives, or introspection.',
  registers: [registry],
})

/** Counts a GraphQL query that has no compiled form. */
export const countPlainQuery = (): void => plainQueries.inc()

/** The label that distinguishes requests. Tenants would produce too many time series. */
export type Surface = 'graphql' | 'rest' | 'scim' | 'ssf' | 'oidc'

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** Time series of requests by their labels: looking a series up costs more than counting in it. */
const series = new Map<string, ReturnType<typeof requestSeconds.labels>>()

/** Records a finished request. */
export function observeRequest(surface: Surface, method: string, status: number, seconds: number): void {
  const key = `${surface} ${METHODS.has(method) ? method : 'other'} ${status}`
  let found = series.get(key)
  if (!found) {
    found = requestSeconds.labels(...key.split(' '))
    series.set(key, found)
  }
  found.observe(seconds)
}

/** The metrics of this process in the Prometheus text format. */
export const renderMetrics = async (): Promise<Response> =>
  new Response(await registry.metrics(), { headers: { 'content-type': registry.contentType } })
