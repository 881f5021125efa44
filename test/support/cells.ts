import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { inject } from 'vitest'
import { createDatabase, withConnection } from './databases.ts'
import { freePort, type ServerProcess, startServer } from './process.ts'

const run = promisify(execFile)

const DEPLOYED = join(import.meta.dirname, '../../deploy/cells')
const START_LIMIT_MS = 10_000

const [NGINX, HAPROXY] = ['/usr/sbin/nginx', '/usr/sbin/haproxy']
/** Why the tests of cells cannot run here, or null. In CI they always run, and fail without the proxies. */
export const noProxy: string | null =
  process.env.CI === 'true' || [NGINX, HAPROXY].every((path) => existsSync(path))
    ? null
    : `no ${NGINX} or no ${HAPROXY}`

/** A deployment with a database of its own. */
export type Cell = ServerProcess & {
  /** Its files of development. */
  directory: string
  /** Starts it again at the same port. */
  restart: () => Promise<Cell>
}

/** Starts a cell of `baseUrl` on a copy of the template database, which the end of the run drops. */
export async function startCell(
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

/** A program that was started with files of `deploy/cells`. */
export type RunningProxy = { origin: string; stop: () => Promise<void> }

/** Runs a proxy with a directory of its own until it listens at the port of `origin`. */
async function startProxy(
  origin: string,
  program: string,
  prepare: (directory: string) => Promise<string[]>,
): Promise<RunningProxy> {
  const directory = await mkdtemp(join(tmpdir(), 'vestibule-proxy-'))
  const child: ChildProcess = spawn(program, await prepare(directory), { cwd: directory, stdio: 'pipe' })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (printed += chunk))
  const exited = once(child, 'exit')
  const stop = async () => {
    child.kill('SIGTERM')
    await exited
    await rm(directory, { recursive: true, force: true })
  }
  for (const deadline = Date.now() + START_LIMIT_MS; ; await sleep(50)) {
    if (child.exitCode !== null || Date.now() > deadline) {
      await stop()
      throw new Error(`${program} did not start:\n${printed}`)
    }
    const answers = await fetch(origin).then(
      () => true,
      () => false,
    )
    if (answers) break
  }
  return { origin, stop }
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
export const startNginx = (
  origin: string,
  cells: { origin: string }[],
  tenants: Record<string, string>,
): Promise<RunningProxy> =>
  startProxy(origin, NGINX, async (directory) => {
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${join(directory, name)};`,
    )
    await mkdir(join(directory, 'cells'))
    const map = await readFile(join(DEPLOYED, 'nginx/tenants.map'), 'utf8')
    const [head = ''] = map.split('globex')
    await writeFile(join(directory, 'cells/tenants.map'), head + toMapLines(tenants, ';'))
    await writeFile(join(directory, 'cells.conf'), await readDeployed('nginx/cells.conf', origin, cells))
    const main = join(directory, 'nginx.conf')
    await writeFile(
      main,
      `daemon off; master_process off; pid ${join(directory, 'pid')}; error_log stderr;
events {}
http { access_log off; ${temporary.join(' ')} include cells.conf; }`,
    )
    return ['-p', directory, '-e', 'stderr', '-c', main]
  })

/** Checks the configuration of HAProxy as its own check does, and starts it as this user. */
export const startHaproxy = (
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
