import type { H3 } from 'h3'
import { equalsConstantTime } from '../core/crypto.ts'
import { env } from '../core/env.ts'
import { addReadRoute } from '../http/read-routes.http.ts'
import { checkRuntime, isRuntimeStuck } from './runtime.ts'
import { collectMetrics } from './worker-metrics.ts'

/**
 * Liveness, readiness and metrics. `isStopping` turns readiness off, so that load balancers stop sending
 * requests.
 */
export function addHealthRoutes(app: H3, isStopping: () => boolean): void {
  addReadRoute(app, '/health/live', () =>
    isRuntimeStuck()
      ? Response.json(
          { status: 'stuck', faults: { database: 'all connections are in use for a minute' } },
          { status: 503 },
        )
      : { status: 'live' },
  )
  addReadRoute(app, '/health/ready', async () => {
    const { database, redis } = await checkRuntime()
    const faults = {
      ...(database && { database: 'does not answer' }),
      ...(isStopping() && { process: 'is stopping' }),
    }
    const ready = Object.keys(faults).length === 0
    // Everything works without Redis, only slower, so that an instance without Redis stays in service.
    const degraded = redis ? { redis: 'does not answer' } : undefined
    return Response.json(
      { status: ready ? 'ready' : 'not ready', ...(!ready && { faults }), degraded },
      { status: ready ? 200 : 503 },
    )
  })
  const token = env.metricsToken
  if (token)
    addReadRoute(app, '/metrics', ({ req }) =>
      equalsConstantTime(req.headers.get('authorization') ?? '', `Bearer ${token}`)
        ? collectMetrics()
        : new Response(null, { status: 401, headers: { 'www-authenticate': 'Bearer' } }),
    )
}
