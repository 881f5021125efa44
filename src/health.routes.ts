import type { H3 } from 'h3'
import { env } from './env.ts'
import { renderMetrics } from './metrics.ts'
import { runtimeFaults } from './runtime.ts'

/** Liveness, readiness and metrics. `isStopping` turns readiness off, so that balancers send no more requests. */
export function addHealthRoutes(app: H3, isStopping: () => boolean): void {
  app.get('/health/live', () => ({ status: 'live' }))
  app.get('/health/ready', async () => {
    const faults = { ...(await runtimeFaults()), ...(isStopping() && { process: 'is stopping' }) }
    const ready = Object.keys(faults).length === 0
    return Response.json(ready ? { status: 'ready' } : { status: 'not ready', faults }, {
      status: ready ? 200 : 503,
    })
  })
  if (env.metrics) app.get('/metrics', renderMetrics)
}
