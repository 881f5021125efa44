import { collectDefaultMetrics, Histogram, Registry } from 'prom-client'

const registry = new Registry()
collectDefaultMetrics({ register: registry })

const requestSeconds = new Histogram({
  name: 'vestibule_http_request_seconds',
  help: 'Time from the first byte of a request to the last of its answer.',
  labelNames: ['surface', 'method', 'status'],
  buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
  registers: [registry],
})

/** The parts of the program that requests are told apart by; tenants would be too many labels. */
export type Surface = 'graphql' | 'rest' | 'oidc'

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** Notes one finished request. */
export function observeRequest(surface: Surface, method: string, status: number, seconds: number): void {
  requestSeconds.observe(
    { surface, method: METHODS.has(method) ? method : 'other', status: String(status) },
    seconds,
  )
}

/** The process's metrics in Prometheus' text format. */
export const renderMetrics = async (): Promise<Response> =>
  new Response(await registry.metrics(), { headers: { 'content-type': registry.contentType } })
