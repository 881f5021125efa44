import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { test as base, describe, expect, inject, onTestFinished } from 'vitest'
import { STYLESHEET_PATH } from '../../src/pages/assets/stylesheet.ts'
import { createDatabase, withConnection } from '../support/databases.ts'
import { listenOnLoopback } from '../support/loopback.ts'
import { freePort, operatorToken, type ServerProcess, startServer } from '../support/process.ts'
import { configureNginx, HAPROXY, NGINX, noProxy, type RunningProxy, startProxy } from '../support/proxies.ts'
import { hasServices } from '../support/services.ts'
import { callGraphql, callRest, makeTenant } from '../support/started-servers.ts'
import { openEventStream, openSocket } from '../support/streams.ts'

const run = promisify(execFile)

const DEPLOYED = join(import.meta.dirname, '../../deploy/cells')
/** A deployment with a database of its own. */
type Cell = ServerProcess & {
  /** Its files of development. */
  directory: string
  /** Starts it again at the same port. */
  restart: () => Promise<Cell>
}

/** Starts a cell of `baseUrl` on a copy of the template database, which the end of the run drops. */
async function startCell(
  name: string,
  baseUrl: string,
  more: Record<string, string | undefined> = {},
): Promise<Cell> {
  const { adminUrl, template, prefix } = inject('database')
  const database = `${prefix}_${process.pid}_${name}`
  await withConnection(adminUrl, (admin) => createDatabase(admin, database, template))
  const url = new URL(adminUrl)
  url.pathname = `/${database}`
  const directory = await mkdtemp(join(tmpdir(), `vestibule-${name}-`))
  const env = {
    BASE_URL: baseUrl,
    PORT: String(await freePort()),
    DATABASE_URL: url.href,
    REDIS_URL: process.env.REDIS_URL,
    REDIS_PREFIX: database,
    ENCRYPTION_KEY: process.env.ENCRYPTION_KEY,
    DATA_DIR: directory,
    TRUST_PROXY: '1',
    ...more,
  }
  const start = async (): Promise<Cell> => ({ ...(await startServer(env)), directory, restart: start })
  return start()
}

/** Reads a file of `deploy/cells`, with the addresses of this machine in place of the names of cells. */
async function readDeployed(file: string, origin: string, cells: { origin: string }[]): Promise<string> {
  const text = await readFile(join(DEPLOYED, file), 'utf8')
  return cells
    .reduce((replaced, cell, i) => replaced.replaceAll(`cell${i + 1}:3000`, new URL(cell.origin).host), text)
    .replace(/(listen|bind) \S*:?80\b/, `$1 127.0.0.1:${new URL(origin).port}`)
}

/** `tenant cell` lines in place of the example. */
const toMapLines = (tenants: Record<string, string>, end: string) =>
  Object.entries(tenants)
    .map((line) => `${line.join(' ')}${end}\n`)
    .join('')

/** Starts nginx as this user. Tenants that are not in the map are those of the first cell. */
const startNginx = (
  origin: string,
  cells: { origin: string }[],
  tenants: Record<string, string>,
): Promise<RunningProxy> =>
  startProxy(origin, NGINX, async (directory) => {
    await mkdir(join(directory, 'cells'))
    const map = await readFile(join(DEPLOYED, 'nginx/tenants.map'), 'utf8')
    const [head = ''] = map.split('globex')
    await writeFile(join(directory, 'cells/tenants.map'), head + toMapLines(tenants, ';'))
    await writeFile(join(directory, 'cells.conf'), await readDeployed('nginx/cells.conf', origin, cells))
    return configureNginx(directory, 'cells.conf')
  })

/** Checks the configuration of HAProxy as its own check does, and starts it as this user. */
const startHaproxy = (
  origin: string,
  cells: { origin: string }[],
  tenants: Record<string, string>,
): Promise<RunningProxy> =>
  startProxy(origin, HAPROXY, async (directory) => {
    const [map, main] = [join(directory, 'tenants.map'), join(directory, 'haproxy.cfg')]
    await writeFile(map, toMapLines(tenants, ''))
    const text = await readDeployed('haproxy/haproxy.cfg', origin, cells)
    await writeFile(main, text.replace('/etc/haproxy/tenants.map', map))
    await run(HAPROXY, ['-c', '-f', main])
    return ['-db', '-f', main]
  })

const TENANTS = { globex: 'cell2', demo: 'cell2', dev: 'cell2' }
/** Tenants by the cell that they were made in. */
const SLUGS = ['acme', 'globex'] as const
const LOCKS = 'subscription { userLockChanged { ... on UserLockEvent { kind userId } } }'

/** Two cells with one BASE_URL, behind nginx at that address and HAProxy at another one. */
const test = base
  .extend('address', { scope: 'file' }, async () => `http://localhost:${await freePort()}`)
  .extend('cells', { scope: 'file' }, async ({ address }, { onCleanup }) => {
    const cells = [await startCell('cell1', address), await startCell('cell2', address, { DEMO: '1' })] as [
      Cell,
      Cell,
    ]
    onCleanup(async () => {
      await Promise.all(cells.map((cell) => cell.stop()))
      await Promise.all(cells.map(({ directory }) => rm(directory, { recursive: true, force: true })))
    })
    return cells
  })
  .extend('nginx', { scope: 'file' }, async ({ address, cells }, { onCleanup }) => {
    const nginx = await startNginx(address, cells, TENANTS)
    onCleanup(nginx.stop)
    return nginx
  })
  .extend('haproxy', { scope: 'file' }, async ({ cells }, { onCleanup }) => {
    const haproxy = await startHaproxy(`http://127.0.0.1:${await freePort()}`, cells, TENANTS)
    onCleanup(haproxy.stop)
    return haproxy
  })
  /** Operator's tokens for the two tenants, each of its cell. */
  .extend('tokens', { scope: 'file' }, async ({ address, cells }) => ({
    acme: await makeTenant(cells[0], address, 'acme'),
    globex: await makeTenant(cells[1], address, 'globex'),
  }))
  .extend('proxies', { scope: 'file' }, ({ nginx, haproxy }): [string, RunningProxy][] => [
    ['nginx', nginx],
    ['HAProxy', haproxy],
  ])

const statusOf = (url: string, token?: string) =>
  fetch(url, { headers: token ? { authorization: `Bearer ${token}` } : {} }).then(async (response) => {
    await response.arrayBuffer()
    return response.status
  })

/** Locks and unlocks a user until subscriptions over both transports have delivered a change; returns both. */
async function watchBoth(server: { origin: string }, slug: string, token: string, userId: string) {
  const url = `${server.origin}/${slug}/graphql`
  const socket = openSocket(url.replace('http', 'ws'), token)
  const seen = new Promise<unknown>((resolve, reject) => {
    socket.subscribe({ query: LOCKS }, { next: resolve, error: reject, complete: () => {} })
  })
  const stream = await openEventStream(url, token, LOCKS)
  const both = Promise.all([seen, stream.next().then((event) => event?.data)])
  let isDone = false
  const change = async () => {
    for (; !isDone; await sleep(200))
      for (const mutation of ['lockUser', 'unlockUser'])
        await callGraphql(
          server,
          slug,
          token,
          `mutation ($id: ID!) { ${mutation}(input: {userId: $id}) { __typename } }`,
          {
            id: userId,
          },
        )
    return null
  }
  const changes = change()
  const events = await Promise.race([both, changes])
  isDone = true
  await changes
  stream.close()
  await socket.dispose()
  return events
}

describe.skipIf(noProxy || !hasServices)('two cells behind one address', { timeout: 120_000 }, () => {
  test('complete the demo through nginx', async ({ address, cells, nginx: _ }) => {
    const env = { PATH: process.env.PATH, DATA_DIR: cells[1].directory }
    const { stdout } = await run('npx', ['tsx', 'tools/demo.ts', '--origin', address], { env })
    expect(stdout).toContain('All of it worked.')
  })

  test('answer for the tenants that were made in each, with metadata, streams and the address of the caller', async ({
    address,
    tokens,
    proxies,
  }) => {
    for (const [name, proxy] of proxies)
      for (const slug of SLUGS) {
        const token = tokens[slug]
        const metadata = await fetch(`${proxy.origin}/.well-known/oauth-authorization-server/${slug}`)
        expect([name, await metadata.json()]).toMatchObject([name, { issuer: `${address}/${slug}` }])
        const forged = { 'x-forwarded-for': '203.0.113.9' }
        const made = await callRest(
          proxy,
          slug,
          token,
          '/users',
          { email: `ada-${name}@example.com` },
          forged,
        )
        expect([made.status, made.headers.get('x-request-id')]).toEqual([
          201,
          expect.stringMatching(/^[0-9a-f-]{32,36}$/),
        ])
        const id = made.body.id as string
        const events = `/events?requestId=${made.headers.get('x-request-id')}`
        await expect
          .poll(async () => (await callRest(proxy, slug, token, events)).body)
          .toMatchObject({ events: [{ type: 'user.created', actor: { ip: '127.0.0.1' } }] })
        const data = { userLockChanged: { userId: id } }
        expect([name, await watchBoth(proxy, slug, token, id)]).toMatchObject([name, [{ data }, { data }]])
      }
  })

  test('know their own operator and tenants only', async ({ address, cells }) => {
    const token = await operatorToken(cells[0], address, 'system', 'tenants:read')
    const list = `/system/api/v1/tenants/acme`
    expect(await Promise.all(cells.map(({ origin }) => statusOf(origin + list, token)))).toEqual([200, 401])
    await expect(operatorToken(cells[0], address, 'globex', 'users:read')).rejects.toThrow('invalid_target')
  })

  test('serve an asset that only one of them has', async ({ cells }) => {
    const other = createServer((request, response) =>
      response.writeHead(request.url === '/assets/newer.css' ? 200 : 404).end(),
    )
    onTestFinished(() => void other.close())
    const pair = [cells[0], { origin: `http://127.0.0.1:${await listenOnLoopback(other)}` }]
    for (const start of [startNginx, startHaproxy]) {
      const proxy = await start(`http://127.0.0.1:${await freePort()}`, pair, {})
      onTestFinished(proxy.stop)
      const ask = (path: string) => Promise.all([1, 2, 3, 4].map(() => statusOf(proxy.origin + path)))
      expect(await ask('/assets/newer.css')).toEqual([200, 200, 200, 200])
      expect(await ask(STYLESHEET_PATH)).toEqual([200, 200, 200, 200])
      expect(await ask('/assets/none.css')).toEqual([404, 404, 404, 404])
    }
  })

  test('fail alone: while one is stopped, its tenants are answered with 502 or 503, and the others as before', async ({
    cells,
    tokens,
    proxies,
  }) => {
    const ask = () =>
      Promise.all(
        proxies.map(async ([, { origin }]) => ({
          acme: await statusOf(`${origin}/acme/api/v1/users`, tokens.acme),
          globex: await statusOf(`${origin}/globex/api/v1/users`, tokens.globex),
          asset: await statusOf(origin + STYLESHEET_PATH),
        })),
      )
    for (const [i, stopped] of [
      [1, 'globex'],
      [0, 'acme'],
    ] as const) {
      await cells[i].stop()
      for (let round = 0; round < 3; round++)
        for (const statuses of await ask()) {
          expect([502, 503]).toContain(statuses[stopped])
          expect({ ...statuses, [stopped]: 200 }).toEqual({ acme: 200, globex: 200, asset: 200 })
        }
      cells[i] = await cells[i].restart()
      await expect
        .poll(ask, { timeout: 20_000, interval: 500 })
        .toEqual(proxies.map(() => ({ acme: 200, globex: 200, asset: 200 })))
    }
  })
})
