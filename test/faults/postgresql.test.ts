import { setTimeout as sleep } from 'node:timers/promises'
import { describe, test } from 'vitest'
import { type Cluster, startCluster } from '../support/clusters.ts'
import { expectNothingLost, type FaultScene, report, startFaultScene } from '../support/fault-scene.ts'
import { startTcpProxy, type TcpProxy, throughProxy } from '../support/tcp-proxy.ts'

const RECOVERY_LIMIT_MS = 15_000

type Parts = { cluster: Cluster; proxy: TcpProxy }

/** What happens to the server's PostgreSQL; returns the URL of the server that has the data then. */
const FAULTS: [string, (parts: Parts) => Promise<string>][] = [
  [
    'is stopped and started',
    async ({ cluster }) => {
      await cluster.stop('fast')
      await sleep(3000)
      await cluster.start()
      return cluster.url
    },
  ],
  [
    'is stopped without a checkpoint and recovers',
    async ({ cluster }) => {
      await cluster.stop('immediate')
      await sleep(1000)
      await cluster.start()
      return cluster.url
    },
  ],
  [
    'loses a backend by SIGKILL and resets all others',
    async ({ cluster }) => {
      await cluster.crash()
      return cluster.url
    },
  ],
  [
    'falls silent, and connections from before stay silent',
    async ({ cluster, proxy }) => {
      proxy.freeze()
      await sleep(14_000)
      proxy.thaw()
      return cluster.url
    },
  ],
  [
    'resets every connection',
    async ({ cluster, proxy }) => {
      for (let n = 0; n < 20; n++) {
        proxy.reset()
        await sleep(100)
      }
      return cluster.url
    },
  ],
]

async function startParts(): Promise<Parts | null> {
  const cluster = await startCluster()
  return cluster && { cluster, proxy: await startTcpProxy(cluster.port) }
}

const startScene = ({ cluster, proxy }: Parts): Promise<FaultScene> =>
  startFaultScene({ DATABASE_URL: throughProxy(cluster.url, proxy) })

describe('a server whose PostgreSQL', () => {
  test.for(FAULTS)('%s works again by itself and has lost nothing', async ([what, fail], { skip }) => {
    const parts = await startParts()
    if (!parts) return skip('PostgreSQL is not installed')
    const scene = await startScene(parts)
    const url = await fail(parts)
    const recoveryMs = await scene.load.untilWorking(RECOVERY_LIMIT_MS)
    await sleep(1000)
    await expectNothingLost(scene, url)
    report(what, scene, recoveryMs)
  })

  test('fails over to a synchronous replica, silently, works again by itself and has lost nothing', async ({
    skip,
  }) => {
    const parts = await startParts()
    if (!parts) return skip('PostgreSQL is not installed')
    const { cluster, proxy } = parts
    const replica = await cluster.addReplica()
    await cluster.waitForReplica()
    const scene = await startScene(parts)
    // The old primary is cut off from its clients, then ended; its connections stay open.
    proxy.freeze()
    await sleep(500)
    await cluster.stop('immediate')
    await replica.promote()
    proxy.redirect(replica.port)
    proxy.thaw()
    const recoveryMs = await scene.load.untilWorking(RECOVERY_LIMIT_MS)
    await sleep(1000)
    await expectNothingLost(scene, replica.url)
    report('fails over', scene, recoveryMs)
  })
})
