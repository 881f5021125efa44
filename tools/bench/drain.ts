import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { typeid } from 'typeid-js'
import type { Deployment } from './deployment.ts'
import { createTarget } from './lists.ts'
import { percentile, prepareAuthorize, probe } from './neighbors.ts'
import type { Received } from './receiver.ts'
import { post, type Seed } from './seed.ts'

/** Messages per second that one receiver gets at least. */
const MIN_RATE = 500
/** The p99 of authorize is multiplied by this at most meanwhile. */
const MAX_RATIO = 1.5
/** Users of the tenant, and of the events. */
const SUBJECTS = 1000
/** Events of one transaction. */
const BATCH = 500
const PROBE_SECONDS = 20
const STALL_MS = 30_000

const ask = async <Answer>(child: ChildProcess): Promise<Answer> => {
  child.send('received')
  const [answer] = await once(child, 'message')
  return answer as Answer
}

async function insertEvents({ db }: Deployment, tenant: string, events: number): Promise<void> {
  const subjects = Array.from({ length: SUBJECTS }, () => typeid('user').toString())
  for (let first = 1; first <= events; first += BATCH) {
    const numbers = Array.from({ length: Math.min(BATCH, events - first + 1) }, (_, index) => first + index)
    await db.query(
      `INSERT INTO "Event" ("tenantId", "id", "type", "userId", "requestId", "changedFields")
       SELECT $1, e.id, 'user.updated', e.subject, e.number, '{name}'
       FROM unnest($2::text[], $3::text[], $4::text[]) AS e(id, subject, number)`,
      [
        tenant,
        numbers.map(() => typeid('event').toString()),
        numbers.map((number) => subjects[number % SUBJECTS]),
        numbers.map(String),
      ],
    )
  }
}

/**
 * Measures how fast a webhook gets the events of a log, and the time of authorize alone and meanwhile. Returns a report, and
 * whether all are within the limits. Throws when messages are lost, or arrive in another order than the events of a subject.
 */
export async function measureDrain(
  deployment: Deployment,
  seed: Seed,
  events: number,
): Promise<{ report: string; isWithin: boolean }> {
  const { origin, tls } = deployment
  const scope = 'webhooks:read webhooks:write events:read'
  const { tenant, token } = await createTarget(deployment, 'drained', SUBJECTS, scope)
  const receiver = spawn(
    process.execPath,
    ['--import', 'tsx', new URL('receiver.ts', import.meta.url).pathname, tls.key, tls.certificate],
    { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] },
  )
  try {
    const [port] = await once(receiver, 'message')
    const headers = { authorization: `Bearer ${token}` }
    const url = `https://localhost:${port}/`
    const { id } = await post(`${origin}/${tenant}/api/v1/webhooks`, headers, {
      url,
      types: ['user.updated'],
      enabled: false,
    })
    await insertEvents(deployment, tenant, events)
    await deployment.db.query('ANALYZE "Event"')

    const target = await prepareAuthorize(deployment, seed)
    await probe(origin, target, 3)
    const alone = await probe(origin, target, PROBE_SECONDS)
    const before = { cpu: deployment.cpuSeconds(), database: await deployment.databaseCpuSeconds() }
    const started = performance.now()
    await fetch(`${origin}/${tenant}/api/v1/webhooks/${id}`, {
      method: 'PATCH',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ enabled: true }),
    })
    const meanwhile = probe(origin, target, PROBE_SECONDS)
    let received = await ask<Received>(receiver)
    let moved = started
    while (received.distinct < events) {
      await sleep(100)
      const next = await ask<Received>(receiver)
      if (next.distinct > received.distinct) moved = performance.now()
      else if (performance.now() - moved > STALL_MS)
        throw new Error(`only ${next.distinct} of ${events} messages arrived`)
      received = next
    }
    const seconds = (performance.now() - started) / 1000
    if (received.late > 0) throw new Error(`${received.late} messages were late`)
    const cpu = ((deployment.cpuSeconds() - before.cpu) / events) * 1000
    const databaseCpu = (((await deployment.databaseCpuSeconds()) - before.database) / events) * 1000
    const [quiet, busy] = [percentile(alone, 0.99), percentile(await meanwhile, 0.99)]
    const rate = events / seconds
    return {
      report: [
        `${events} events to one webhook: ${rate.toFixed(0)} messages/s (at least ${MIN_RATE}), sent twice: ${received.messages - received.distinct}`,
        `CPU s/1000 messages, with authorize: server ${cpu.toFixed(3)}, database ${databaseCpu.toFixed(3)}`,
        `p99 of authorize: ${quiet.toFixed(1)} ms alone, ${busy.toFixed(1)} ms meanwhile, ratio ${(busy / quiet).toFixed(2)} (at most ${MAX_RATIO})`,
      ].join('\n'),
      isWithin: rate >= MIN_RATE && busy / quiet <= MAX_RATIO,
    }
  } finally {
    receiver.kill()
  }
}
