import { createServer } from 'node:http'
import { env } from '../core/env.ts'
import { renderMetrics } from '../core/metrics.ts'
import { listenOnPort } from './listen.ts'

/** Serves /metrics on METRICS_PORT, if it is set. Returns the function that stops it. */
export async function startMetricsServer(port = env.metricsPort): Promise<() => void> {
  if (port === undefined) return () => {}
  const server = createServer(async ({ method, url }, response) => {
    if (method !== 'GET' || url !== '/metrics') return response.writeHead(404).end()
    const metrics = await renderMetrics()
    response.writeHead(200, Object.fromEntries(metrics.headers)).end(await metrics.text())
  })
  await listenOnPort(server, port)
  return () => {
    server.close()
    server.closeAllConnections()
  }
}
