import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { ensureBuilt } from '../support/build.ts'
import { databaseUrl } from '../support/connections.ts'
import { freePort } from '../support/process.ts'
import { newServerEnv, startTestServer } from '../support/started-servers.ts'

const SCRAPES = 8

/** Runs the server until it ends by itself. */
async function runToEnd(env: Record<string, string | undefined>) {
  ensureBuilt()
  const child = spawn(process.execPath, ['dist/main.js'], {
    env: { PATH: process.env.PATH, PORT: String(await freePort()), DEMO: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (printed += chunk))
  const [code] = await once(child, 'exit')
  return { code, lines: printed.trim().split('\n') }
}

/** What counts requests of the surface "rest" in a scrape. */
const countRequests = (metrics: string): number =>
  [...metrics.matchAll(/^vestibule_http_request_seconds_count\{surface="rest".*\} (\d+)$/gm)].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  )

// Several workers need Redis.
describe.skipIf(!process.env.REDIS_URL)('a server with several workers', { timeout: 120_000 }, () => {
  test('ends once with its sentence and exit code when it cannot start', async () => {
    const url = new URL(databaseUrl())
    url.pathname = '/vestibule_absent'
    const { code, lines } = await runToEnd({
      ...(await newServerEnv()),
      WORKERS: '2',
      DATABASE_URL: url.href,
    })
    expect(code).toBe(1)
    expect(lines).toEqual([
      expect.stringMatching(/^Vestibule cannot start: The database of DATABASE_URL .* does not exist\.$/),
    ])
  })

  test('shows the requests of all workers in each scrape, on METRICS_PORT and with METRICS_TOKEN', async () => {
    const metricsPort = await freePort()
    const token = 'a-token-for-scrapes'
    const server = await startTestServer({
      ...(await newServerEnv()),
      WORKERS: '2',
      METRICS_PORT: String(metricsPort),
      METRICS_TOKEN: token,
    })
    const path = `${server.origin}/system/api/v1/users`
    const send = () => fetch(path, { headers: { connection: 'close' } }).then((answer) => answer.status)
    for (let sent = 0; sent < SCRAPES; sent += 1) expect(await send()).toBe(401)
    const scrape = async (url: string) => {
      const headers = { authorization: `Bearer ${token}`, connection: 'close' }
      return countRequests(await (await fetch(url, { headers })).text())
    }
    const scrapeAll = () =>
      Promise.all(
        Array.from({ length: SCRAPES }, (_, index) =>
          scrape(index % 2 ? `${server.origin}/metrics` : `http://127.0.0.1:${metricsPort}/metrics`),
        ),
      )
    // A request counts when its last byte was sent, and a worker answers when it has loaded.
    await expect.poll(scrapeAll, { timeout: 30_000 }).toEqual(Array.from({ length: SCRAPES }, () => SCRAPES))
    expect(await server.stop()).toBe(0)
  })
})

describe('a server that cannot start', { timeout: 120_000 }, () => {
  test('prints one line for another ENCRYPTION_KEY, without a stack', async () => {
    const env = await newServerEnv()
    expect(await (await startTestServer(env)).stop()).toBe(0)
    const other = Buffer.alloc(32, 'another').toString('base64url')
    const { code, lines } = await runToEnd({ ...env, ENCRYPTION_KEY: other })
    expect(code).toBe(1)
    expect(lines).toEqual([
      expect.stringMatching(/^Vestibule cannot start: ENCRYPTION_KEY .* is not the one/),
    ])
  })

  test.for([
    [{ HOST: 'no-such-host.invalid' }, /^Vestibule cannot start: HOST \(no-such-host\.invalid\) is not/],
    [
      { DATA_DIR: '/dev/null/data', DATABASE_URL: '' },
      /^Vestibule cannot start: DATA_DIR \(.*\) cannot be used/,
    ],
  ] as const)('says in one line that %j is wrong', async ([variables, sentence]) => {
    const { code, lines } = await runToEnd({ ...(await newServerEnv()), ...variables })
    expect(code).toBe(1)
    // Redis may answer late on a busy machine, which the log says.
    expect(lines.filter((line) => !line.includes('"msg":"redis'))).toEqual([expect.stringMatching(sentence)])
  })

  test('is the second one on the embedded database of a directory', async () => {
    const { DATA_DIR } = await newServerEnv()
    const first = await startTestServer({ DATA_DIR })
    const { code, lines } = await runToEnd({ DATA_DIR })
    expect(code).toBe(1)
    expect(lines.at(-1)).toMatch(
      new RegExp(
        `^Vestibule cannot start: Another server or command \\(process ${first.child.pid}\\) runs on `,
      ),
    )
    expect(await first.stop()).toBe(0)
  })
})
