import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { type Cluster, startCluster } from '../support/clusters.ts'
import { type FaultRedis, startFaultRedis } from '../support/fault-redis.ts'
import { startFaultScene } from '../support/fault-scene.ts'
import type { ServerProcess } from '../support/process.ts'
import { startTcpProxy, type TcpProxy, throughProxy } from '../support/tcp-proxy.ts'

/** As documented; the timers of a busy machine fire later. */
const STOP_LIMIT_MS = 10_500

type Parts = { cluster: Cluster; proxy: TcpProxy; redis: FaultRedis; server: ServerProcess }

const STATES: [string, (parts: Parts) => unknown][] = [
  ['everything answers', () => {}],
  ['PostgreSQL is silent', ({ proxy }) => proxy.freeze()],
  ['PostgreSQL refuses connections', ({ cluster }) => cluster.stop('immediate')],
  ['Redis hangs', ({ redis }) => redis.child.kill('SIGSTOP')],
  ['Redis refuses connections', ({ redis }) => redis.child.kill('SIGKILL')],
  [
    'PostgreSQL is silent, Redis hangs, and its output is closed',
    ({ proxy, redis, server }) => {
      proxy.freeze()
      redis.child.kill('SIGSTOP')
      server.child.stdout?.destroy()
      server.child.stderr?.destroy()
    },
  ],
]

describe('a server that stops under load', () => {
  test.for(STATES)('exits within 10 s while %s', async ([what, fail], { skip }) => {
    const cluster = await startCluster()
    if (!cluster) return skip('PostgreSQL is not installed')
    const proxy = await startTcpProxy(cluster.port)
    const redis = await startFaultRedis()
    const { server } = await startFaultScene({
      DATABASE_URL: throughProxy(cluster.url, proxy),
      REDIS_URL: redis.url,
    })
    await fail({ cluster, proxy, redis, server })
    const exited = once(server.child, 'exit')
    const start = Date.now()
    server.child.kill('SIGTERM')
    const [code, signal] = await exited
    const ms = Date.now() - start
    process.stderr.write(`${what}: exits with ${code} after ${ms} ms\n`)
    expect(signal).toBeNull()
    expect(ms).toBeLessThan(STOP_LIMIT_MS)
  })
})
