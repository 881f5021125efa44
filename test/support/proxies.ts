import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const START_LIMIT_MS = 10_000

export const [NGINX, HAPROXY] = ['/usr/sbin/nginx', '/usr/sbin/haproxy']
/** Why tests of proxies cannot run here, or null. In CI they always run, and fail without the proxies. */
export const noProxy: string | null =
  process.env.CI === 'true' || [NGINX, HAPROXY].every((path) => existsSync(path))
    ? null
    : `no ${NGINX} or no ${HAPROXY}`

/** A proxy in a process of its own. */
export type RunningProxy = { origin: string; stop: () => Promise<void> }

/** Runs a proxy with a directory of its own until it listens at the port of `origin`. */
export async function startProxy(
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

/** Writes a configuration of nginx for this user, which includes a file in the block http; returns its arguments. */
export async function configureNginx(directory: string, included: string): Promise<string[]> {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(directory, name)};`,
  )
  const main = join(directory, 'nginx.conf')
  await writeFile(
    main,
    `daemon off; master_process off; pid ${join(directory, 'pid')}; error_log stderr;
events {}
http { access_log off; ${temporary.join(' ')} include ${included}; }`,
  )
  return ['-p', directory, '-e', 'stderr', '-c', main]
}
