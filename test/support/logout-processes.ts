import { decodeJwt } from 'jose'
import pg from 'pg'
import { expect } from 'vitest'
import { openEmbedded } from '../../src/database/embedded/open.ts'
import { PageBrowser } from './page-browser.ts'
import { freePort, operatorToken, type ServerProcess, startServer } from './process.ts'
import { answerIn, authorizePath, REDIRECT_URI, VERIFIER } from './protocol.ts'

export const usesPostgres = Boolean(process.env.DATABASE_URL)
/** A delivery that a process has claimed is not claimed by another one for this long. */
const LEASE = "interval '20 seconds'"
/** Directory of the embedded database, which this process does not open. */
const directory = process.env.DATA_DIR ?? ''

/** Starts the program on the database of this test. */
export const startProcess = async (): Promise<ServerProcess> => {
  const { DATABASE_URL, REDIS_URL, REDIS_PREFIX } = process.env
  return startServer({
    DATA_DIR: directory,
    PORT: String(await freePort()),
    ENCRYPTION_KEY: process.env.ENCRYPTION_KEY,
    ...(usesPostgres && { DATABASE_URL, REDIS_URL, REDIS_PREFIX }),
  })
}

/** Signs a user in at a client of a new tenant; `end` ends the session. */
export async function signInAtProcess(server: ServerProcess, tenant: string, backchannelLogoutUrl: string) {
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
export async function endLease(tenant: string): Promise<void> {
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
