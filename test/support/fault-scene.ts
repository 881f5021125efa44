import { expect, onTestFinished } from 'vitest'
import { withConnection } from './databases.ts'
import { type FaultLoad, startFaultLoad, TENANT } from './fault-load.ts'
import { PageBrowser } from './page-browser.ts'
import { freePort, type ServerProcess, startServer } from './process.ts'
import { refreshWith } from './protocol.ts'
import { newServerEnv } from './started-servers.ts'

/** A server under load, whose parts a test lets fail. */
export type FaultScene = { server: ServerProcess; load: FaultLoad; baseUrl: string }

/** Starts a server with these variables, and the load. */
export async function startFaultScene(variables: Record<string, string>): Promise<FaultScene> {
  const port = await freePort()
  const baseUrl = `http://localhost:${port}`
  const server = await startServer({
    ...(await newServerEnv()),
    PORT: String(port),
    BASE_URL: baseUrl,
    TRUST_PROXY: '1',
    LOG_LEVEL: 'warn',
    ...variables,
  })
  onTestFinished(() => server.kill().catch(() => {}))
  const load = await startFaultLoad(server, baseUrl)
  await load.untilWorking(30_000)
  return { server, load, baseUrl }
}

const readIds = (url: string, text: string): Promise<string[]> =>
  withConnection(url, async (client) => {
    const { rows } = await client.query<{ id: string }>(text, [TENANT])
    return rows.map(({ id }) => id)
  })

/**
 * Stops the load, and expects that what was acknowledged is stored, that each stored user has one event, that
 * the subscription delivered each event once, that nobody was let in, that refresh tokens work, and that the
 * process is the one that was started.
 */
export async function expectNothingLost({ server, load }: FaultScene, databaseUrl: string): Promise<void> {
  await load.stop()
  const stored = await readIds(databaseUrl, 'SELECT "id" FROM "User" WHERE "tenantId" = $1')
  const logged = await readIds(
    databaseUrl,
    'SELECT "userId" AS "id" FROM "Event" WHERE "tenantId" = $1 AND "type" = \'user.created\'',
  )
  const isStored = new Set(stored)
  expect(load.unexpected).toEqual([])
  expect(load.acknowledged.filter((id) => !isStored.has(id))).toEqual([])
  expect(logged.filter((id) => !isStored.has(id))).toEqual([])
  expect([logged.length, new Set(logged).size]).toEqual([stored.length, stored.length])
  const isDelivered = new Set(load.delivered)
  expect(load.delivered).toHaveLength(isDelivered.size)
  expect(load.acknowledged.filter((id) => !isDelivered.has(id))).toEqual([])
  for (const token of load.refreshTokens.slice(-5))
    expect((await refreshWith(server, TENANT, load.client, token)).status).toBe(200)
  expect((await new PageBrowser(server.origin).fetch('/health/live')).status).toBe(200)
  expect([server.child.exitCode, server.child.signalCode]).toEqual([null, null])
}

/** Prints a figure of a fault test. */
export const report = (what: string, { load }: FaultScene, recoveryMs: number): void => {
  process.stderr.write(
    `${what}: working ${recoveryMs} ms after the return; ${load.acknowledged.length} writes and ${load.refreshTokens.length} sign-ins acknowledged, ${load.unavailable} times 503, slowest answer ${load.slowestMs} ms\n`,
  )
}
