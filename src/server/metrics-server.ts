import { createServer } from 'node:http'
import { env } from '../core/env.ts'
import { listenOnPort } from './listen.ts'
import { collectMetrics } from './worker-metrics.ts'

/** Serves /metrics on METRICS_PORT, if it is set. Returns the function that stops it. */
export async function startMetricsServer(port = env.metricsPort): Promise<() => void> {
  if (port === undefined) return () => {}
  const server = createServer(async ({ method, url }, response) => {
    if (method !== 'GET' || url !== '/metrics') return response.writeHead(404).end()
    const metrics = await collectMetrics()
    response.writeHead(metrics.status, Object.fromEntries(metrics.headers)).end(await metrics.text())
  })
  await listenOnPort(server, port)
  return () => {
    server.close()
    server.closeAllConnections()
  }
}
