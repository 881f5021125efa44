import cluster, { type Worker } from 'node:cluster'
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { AggregatorRegistry } from 'prom-client'
import { env } from '../core/env.ts'
import { registry, renderMetrics } from '../core/metrics.ts'
import { listenOnPort } from './listen.ts'

// A scrape reaches any of the workers. It asks the supervisor, which collects the metrics of all.

/** prom-client waits 5 s for the workers. */
const ANSWER_TIMEOUT_MS = 6000

type MetricsRequest = { type: 'vestibule:metrics'; id: string }
type MetricsAnswer = MetricsRequest & { text: string | null }

const isMetrics = (message: unknown): message is MetricsRequest =>
  (message as Partial<MetricsRequest> | null)?.type === 'vestibule:metrics'

/** In a worker, it answers the supervisor with the metrics of this process. */
const aggregator = new AggregatorRegistry()
AggregatorRegistry.setRegistries([registry])

/** In the supervisor: answers the workers that are asked for metrics. */
export function answerMetricsRequests(): void {
  cluster.on('message', async (worker: Worker, message: unknown) => {
    if (!isMetrics(message)) return
    const text = await aggregator.clusterMetrics().catch(() => null)
    if (worker.isConnected()) worker.send({ ...message, text })
  })
}

const waiting = new Map<string, (text: string | null) => void>()
if (cluster.isWorker)
  process.on('message', (message) => {
    if (isMetrics(message)) waiting.get(message.id)?.((message as MetricsAnswer).text)
  })

function askSupervisor(): Promise<string | null> {
  const id = randomUUID()
  return new Promise<string | null>((resolve) => {
    waiting.set(id, resolve)
    setTimeout(resolve, ANSWER_TIMEOUT_MS, null).unref()
    process.send?.({ type: 'vestibule:metrics', id } satisfies MetricsRequest)
  }).finally(() => waiting.delete(id))
}

/** The metrics of all processes of this server in the Prometheus text format; 503 while one does not answer. */
export async function collectMetrics(): Promise<Response> {
  if (!cluster.isWorker) return renderMetrics()
  const text = await askSupervisor()
  if (text === null) return new Response('A worker process does not answer.\n', { status: 503 })
  return new Response(text, { headers: { 'content-type': registry.contentType } })
}

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
