import { decodeJwt } from 'jose'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openEmbedded } from '../../../src/database/embedded/open.ts'
import {
  type Heard,
  type LogoutReceiver,
  startLogoutReceiver,
  validateLogoutToken,
} from '../../support/logout-receiver.ts'
import { PageBrowser } from '../../support/page-browser.ts'
import { freePort, operatorToken, type ServerProcess, startServer } from '../../support/process.ts'
import { answerIn, authorizePath, REDIRECT_URI, VERIFIER } from '../../support/protocol.ts'
import { hasServices } from '../../support/services.ts'

const usesPostgres = Boolean(process.env.DATABASE_URL)
/** A delivery that a process has claimed is not claimed by another one for this long. */
const LEASE = "interval '20 seconds'"
/** Directory of the embedded database, which this process does not open. */
const directory = process.env.DATA_DIR ?? ''

/** Starts the program on the database of this test. */
const startProcess = async (): Promise<ServerProcess> => {
  const { DATABASE_URL, REDIS_URL, REDIS_PREFIX } = process.env
  return startServer({
    DATA_DIR: directory,
    PORT: String(await freePort()),
    ENCRYPTION_KEY: process.env.ENCRYPTION_KEY,
    ...(usesPostgres && { DATABASE_URL, REDIS_URL, REDIS_PREFIX }),
  })
}

/** Signs a user in at a client of a new tenant; `end` ends the session. */
async function signInAtProcess(server: ServerProcess, tenant: string, backchannelLogoutUrl: string) {
  const baseUrl = `http://localhost:${new URL(server.origin).port}`
  const call = async (slug: string, token: string, method: string, route: string, body?: object) => {
    const response = await fetch(`${server.origin}/${slug}/api/v1${route}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${method} ${route}: ${response.status} ${await response.text()}`)
    return (await response.json()) as Record<string, string>
  }
  await call('system', await operatorToken(server, baseUrl, 'system', 'tenants:write'), 'POST', '/tenants', {
    slug: tenant,
  })
  const token = await operatorToken(server, baseUrl, tenant, 'users:write sessions:write clients:write')
  const email = `ada@${tenant}.example`
  await call(tenant, token, 'POST', '/users', { email, emailVerified: true })
  const client = await call(tenant, token, 'POST', '/clients', {
    name: 'Relying party',
    appType: 'single-page',
    type: 'login',
    callbacks: [REDIRECT_URI],
    backchannelLogoutUrl,
  })
  const id = client.id as string
  const browser = new PageBrowser(server.origin)
  const at = await browser.open(authorizePath(tenant, { id }))
  const entered = await browser.submit(
    { html: await at.response.text(), path: at.path },
    { step: 'email', address: email },
  )
  const code = async () => {
    const inbox = await fetch(`${server.origin}/dev/inbox.json?to=${encodeURIComponent(email)}`)
    const { messages } = (await inbox.json()) as { messages: { body: string }[] }
    return /\b\d{6}\b/.exec(messages[0]?.body ?? '')?.[0] ?? ''
  }
  await expect.poll(code, { timeout: 10_000 }).not.toBe('')
  const arrived = await browser.submit(
    { html: await entered.response.text(), path: entered.path },
    { step: 'code', code: await code() },
  )
  const response = await fetch(`${server.origin}/${tenant}/oidc/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: id,
      code: answerIn(arrived.location).code ?? '',
      redirect_uri: REDIRECT_URI,
      code_verifier: VERIFIER,
    }),
  })
  const { id_token: idToken } = (await response.json()) as { id_token: string }
  const sid = String(decodeJwt(idToken).sid)
  return { clientId: id, sid, end: () => call(tenant, token, 'DELETE', `/sessions/${sid}`) }
}

/** Ends the lease of the tenant's delivery that a killed process had claimed. */
async function endLease(tenant: string): Promise<void> {
  const { connection } = usesPostgres
    ? { connection: { connectionString: process.env.DATABASE_URL } }
    : await openEmbedded(directory)
  const client = new pg.Client(connection)
  await client.connect()
  try {
    const { rows } = await client.query(
      `UPDATE "LogoutDelivery" SET "nextAt" = LEAST("nextAt", now()) WHERE "tenantId" = $1 AND "nextAt" <= now() + ${LEASE} RETURNING "attempts"`,
      [tenant],
    )
    expect(rows).toEqual([{ attempts: 1 }])
  } finally {
    await client.end()
  }
}

const SHARED = ['a', 'b', 'c', 'd'].flatMap((name) => [`/shared-${name}1`, `/shared-${name}2`])
const servers: ServerProcess[] = []
const start = async () => {
  const server = await startProcess()
  servers.push(server)
  return server
}
let receiver: LogoutReceiver
let first: ServerProcess
let second: ServerProcess
beforeAll(async () => {
  receiver = await startLogoutReceiver()
  // Only one process can open the embedded database.
  const [one, two] = await Promise.all([start(), usesPostgres && start()])
  first = one
  if (two) second = two
}, 120_000)
afterAll(async () => {
  await Promise.all(servers.map((server) => server.kill().catch(() => {})))
  await receiver.close()
})

describe.runIf(hasServices)('a queued logout token', { timeout: 120_000 }, () => {
  test.runIf(usesPostgres)('is delivered by any of the processes', async () => {
    const people = await Promise.all(
      SHARED.map((path, index) =>
        signInAtProcess(index % 2 ? second : first, path.slice(1), receiver.urlOf(path)),
      ),
    )
    await Promise.all(people.map(({ end }) => end()))
    await Promise.all(SHARED.map((path) => receiver.waitFor(path)))
    expect(SHARED.map((path) => receiver.toldAt(path)[0])).toEqual(people.map(({ sid }) => sid))
  })

  test('is delivered by another process after the one that ended the session was killed', async () => {
    receiver.answers.set('/killed', () => {})
    const { clientId, sid, end } = await signInAtProcess(first, 'killed', receiver.urlOf('/killed'))
    await end()
    await receiver.waitFor('/killed')
    await first.kill()
    receiver.answers.delete('/killed')
    if (!usesPostgres) second = await start()
    await endLease('killed')
    const [, last] = await receiver.waitFor('/killed', 2)
    const { claims } = await validateLogoutToken(second.origin, 'killed', clientId, last as Heard)
    expect(claims.sid).toBe(sid)
  })

  test('without an answer does not delay SIGTERM and is delivered by the next process', async () => {
    receiver.answers.set('/stopped', () => {})
    const { clientId, sid, end } = await signInAtProcess(second, 'stopped', receiver.urlOf('/stopped'))
    await end()
    await receiver.waitFor('/stopped')
    expect(await second.stop()).toBe(0)
    receiver.answers.delete('/stopped')
    const third = await start()
    const [, last] = await receiver.waitFor('/stopped', 2)
    const { claims } = await validateLogoutToken(third.origin, 'stopped', clientId, last as Heard)
    expect(claims.sid).toBe(sid)
    expect(await third.stop()).toBe(0)
  })

  test.runIf(usesPostgres)('is delivered once by several processes', () => {
    expect(SHARED.map((path) => receiver.heardAt(path).length)).toEqual(SHARED.map(() => 1))
  })
})
