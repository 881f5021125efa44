import type { H3 } from 'h3'
import { env } from './env.ts'
import { renderMetrics } from './metrics.ts'
import { runtimeFaults } from './runtime.ts'

/** Liveness, readiness and metrics. `isStopping` turns readiness off, so that balancers send no more requests. */
export function addHealthRoutes(app: H3, isStopping: () => boolean): void {
  app.get('/health/live', () => ({ status: 'live' }))
  app.get('/health/ready', async () => {
    const { database, redis } = await runtimeFaults()
    const faults = {
      ...(database && { database: 'does not answer' }),
      ...(isStopping() && { process: 'is stopping' }),
    }
    const ready = Object.keys(faults).length === 0
    // Redis only makes things faster: taking every instance out because it is away would be the greater harm.
    const degraded = redis ? { redis: 'does not answer' } : undefined
    return Response.json(
      { status: ready ? 'ready' : 'not ready', ...(!ready && { faults }), degraded },
      { status: ready ? 200 : 503 },
    )
  })
  if (env.metrics) app.get('/metrics', renderMetrics)
}
