import { writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { describe, expect, onTestFinished, vi } from 'vitest'
import { test } from '../support/fixtures.ts'
import { freePort } from '../support/process.ts'

/** A server on the internet, set before src reads the environment; the file of GEOIP_DB does not exist. */
const { METRICS_TOKEN, GEOIP_DB, MANAGEMENT_PORT } = await vi.hoisted(async () => {
  const { freePort } = await import('../support/process.ts')
  return Object.assign(process.env, {
    BASE_URL: 'https://id.example.com',
    METRICS_TOKEN: 'token-of-the-scraper',
    MANAGEMENT_PORT: String(await freePort()),
    GEOIP_DB: `${process.env.DATA_DIR}/places.mmdb`,
    SMTP_URL: `smtp://user:secret@127.0.0.1:${await freePort()}`,
  })
})

/** Sends a request to a target that fetch would change. */
async function send(origin: string, path: string, headers = {}): Promise<number | undefined> {
  const sent = request(origin, { path, headers, agent: false }).end()
  return new Promise((resolve, reject) => {
    sent.once('response', ({ statusCode }) => resolve(statusCode)).once('error', reject)
    sent.once('upgrade', ({ statusCode }, socket) => {
      socket.destroy()
      resolve(statusCode)
    })
  })
}
const upgrade = (origin: string, tenant: string) =>
  send(origin, `/${tenant}/graphql`, {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    'sec-websocket-protocol': 'graphql-transport-ws',
  })

describe('the public port', () => {
  test('sends Strict-Transport-Security with every response when BASE_URL is https', async ({
    app,
    tenant,
  }) => {
    const paths = ['/health/live', '/nothing', `/${tenant}/graphql`, `/${tenant}/api/v1/users`]
    for (const path of [
      ...paths,
      `/${tenant}/.well-known/openid-configuration`,
      `/${tenant}/oidc/authorize`,
    ]) {
      const { headers } = await fetch(`${app.origin}${path}`)
      expect([path, headers.get('strict-transport-security')]).toEqual([path, 'max-age=31536000'])
    }
  })

  test('serves metrics only with METRICS_TOKEN', async ({ app }) => {
    const read = async (authorization?: string) =>
      (await fetch(`${app.origin}/metrics`, { headers: { ...(authorization && { authorization }) } })).status
    expect(await read()).toBe(401)
    expect(await read('Bearer token-of-the-scrape')).toBe(401)
    expect(await read(METRICS_TOKEN)).toBe(401)
    expect(await read(`Bearer ${METRICS_TOKEN}`)).toBe(200)
  })
})

describe('the management port', () => {
  test('serves GraphQL, REST and the console, which the public port does not find in any spelling', async ({
    app,
    tenant,
    token,
  }) => {
    const management = `http://127.0.0.1:${MANAGEMENT_PORT}`
    const headers = { authorization: `Bearer ${token}` }
    const read = async (origin: string, path: string) =>
      (await fetch(`${origin}${path}`, { headers, redirect: 'manual' })).status
    const paths = [
      'api/v1/users',
      'api/v1/openapi.json',
      'api/v1/docs',
      'graphql?query={__typename}',
      'console',
    ]
    for (const path of paths) {
      expect([path, await read(app.origin, `/${tenant}/${path}`)]).toEqual([path, 404])
      expect([path, await read(management, `/${tenant}/${path}`)]).not.toEqual([path, 404])
    }
    for (const path of ['/console', `/${tenant}/%63onsole`, `/${tenant}/console/users`, `/${tenant}/api`])
      expect([path, await read(app.origin, path)]).toEqual([path, 404])
    for (const target of [
      `/${tenant}/x/../console`,
      `http://id.example.com/${tenant}/console`,
      `//${tenant}/console`,
    ])
      expect([target, await send(app.origin, target)]).toEqual([target, 404])
    for (const origin of [app.origin, management])
      expect(await read(origin, `/${tenant}/.well-known/openid-configuration`)).toBe(200)
    expect(await upgrade(app.origin, tenant)).toBe(404)
    expect(await upgrade(management, tenant)).toBe(101)
  })
})

describe('the metrics port', () => {
  test('serves metrics and nothing else', async ({ app: _ }) => {
    const { startMetricsServer } = await import('../../src/server/worker-metrics.ts')
    const port = await freePort()
    onTestFinished(await startMetricsServer(port))
    const metrics = await fetch(`http://127.0.0.1:${port}/metrics`)
    expect([metrics.status, await metrics.text()]).toEqual([200, expect.stringContaining('vestibule_http')])
    expect((await fetch(`http://127.0.0.1:${port}/health/live`)).status).toBe(404)
  })
})

describe('a start', () => {
  test('fails when GEOIP_DB is absent or not a MaxMind file', async () => {
    const { openLocations } = await import('../../src/core/network/ip-location.ts')
    expect(openLocations).toThrow(/^GEOIP_DB cannot be read as a MaxMind file: ENOENT/)
    writeFileSync(GEOIP_DB, 'not a MaxMind file')
    expect(openLocations).toThrow(/^GEOIP_DB cannot be read as a MaxMind file:/)
  })

  test('tries the mail server', async () => {
    const { verifyMailServer } = await import('../../src/delivery/mail.ts')
    expect(await verifyMailServer()).toMatch(/ESOCKET|ECONNREFUSED|ECONNECTION/)
  })
})
