import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startCluster } from '../support/clusters.ts'
import { freePort, operatorToken, type ServerProcess } from '../support/process.ts'
import { callRest, makeTenant, newServerEnv, startTestServer } from '../support/started-servers.ts'
import { startWebhookReceiver } from '../support/webhook-receiver.ts'

const TENANT = 'receivers'
const SCOPES = 'webhooks:read webhooks:write events:read users:write'
/** Messages about its own failures would never end. */
const ECHOES = ['webhook.failing', 'webhook.recovered']

type Event = { id: string; type: string; position: string }

/** The events of the log, oldest first. */
async function readLog(server: ServerProcess, token: string): Promise<Event[]> {
  const events: Event[] = []
  for (let after = ''; ; ) {
    const { body } = await callRest(server, TENANT, token, `/events?pageSize=1000${after}`)
    const page = body.events as unknown as Event[]
    const last = page.at(-1)
    if (!last) return events
    events.push(...page)
    after = `&after=${last.position}`
  }
}

describe('a receiver of a webhook', () => {
  test('gets exactly the events of the log after it, both processes and PostgreSQL were killed', async ({
    skip,
  }) => {
    const cluster = await startCluster()
    if (!cluster) return skip('PostgreSQL is not installed')
    const receiver = await startWebhookReceiver()
    onTestFinished(receiver.close)
    const accepted: { id: string; body: string }[] = []
    let isDown = false
    receiver.answers.set('/hook', (response, { headers, body }) => {
      if (!isDown) accepted.push({ id: String(headers['webhook-id']), body })
      response.writeHead(isDown ? 503 : 204).end()
    })

    const baseUrl = `http://localhost:${await freePort()}`
    const env = { ...(await newServerEnv()), BASE_URL: baseUrl, DATABASE_URL: cluster.url }
    const start = () => startTestServer(env)
    const [one, two] = [await start(), await start()]
    await makeTenant(one, baseUrl, TENANT)
    const token = await operatorToken(one, baseUrl, TENANT, SCOPES)
    const created = await callRest(one, TENANT, token, '/webhooks', { url: receiver.urlOf('/hook') })
    expect(created.status).toBe(201)
    let acknowledged = 0
    /** Creates users at a process until it ends. */
    const write = async (server: ServerProcess) => {
      for (;;) {
        const answer = await callRest(server, TENANT, token, '/users', { name: 'Someone' }).catch(() => null)
        if (answer?.status === 201) acknowledged += 1
        else if (server.child.exitCode !== null || server.child.signalCode !== null) return
        else await sleep(100)
      }
    }
    const writers = [one, one, two, two].map(write)
    await expect.poll(() => accepted.length, { timeout: 20_000 }).toBeGreaterThan(50)
    isDown = true
    await sleep(1000)
    await one.kill()
    await sleep(1000)
    await cluster.stop('immediate')
    await sleep(1000)
    await cluster.start()
    await expect.poll(() => acknowledged, { timeout: 20_000 }).toBeGreaterThan(300)
    isDown = false
    // Dies while it sends, so that some messages that were accepted are not recorded as such.
    const before = accepted.length
    await expect.poll(() => accepted.length, { timeout: 60_000 }).toBeGreaterThan(before + 50)
    await two.kill()
    await Promise.all(writers)
    const [three] = [await start(), await start()]
    const log = (await readLog(three, token)).filter(({ type }) => !ECHOES.includes(type))
    const first = log.findIndex(({ type }) => type === 'webhook.created')
    const ids = log.slice(first).map(({ id }) => id)
    await expect.poll(() => new Set(accepted.map(({ id }) => id)).size, { timeout: 90_000 }).toBe(ids.length)
    expect([...new Set(accepted.map(({ id }) => id))].sort()).toEqual(ids.sort())
    const bodies = new Map(accepted.map(({ id, body }) => [id, body]))
    expect(accepted.filter(({ id, body }) => bodies.get(id) !== body)).toEqual([])
  })
})
