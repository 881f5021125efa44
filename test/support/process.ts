import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { ensureBuilt } from './build.ts'

const START_LIMIT_MS = 60_000

/** The program in a process of its own, as an operator runs it. */
export type ServerProcess = {
  origin: string
  child: ChildProcess
  /** Everything that it has printed. */
  output: () => string
  /** Sends SIGTERM; returns the exit code. */
  stop: () => Promise<number | null>
  /** Sends SIGKILL. */
  kill: () => Promise<void>
}

export const operator = { id: 'test-operator', secret: randomBytes(32).toString('base64url') }

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

/**
 * Starts the server with the operator's client ensured, and options of Node; waits until it is ready. It is the one of
 * this checkout unless it is installed in another `directory`.
 */
export async function startServer(
  env: Record<string, string | undefined>,
  nodeOptions: readonly string[] = [],
  directory = '.',
): Promise<ServerProcess> {
  const port = env.PORT ? Number(env.PORT) : await freePort()
  ensureBuilt()
  const child = spawn(process.execPath, [...nodeOptions, 'dist/main.js'], {
    cwd: directory,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      HOST: '127.0.0.1',
      PORT: String(port),
      DEMO: '0',
      BOOTSTRAP_CLIENT_ID: operator.id,
      BOOTSTRAP_CLIENT_SECRET: operator.secret,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (printed += chunk))
  const origin = `http://127.0.0.1:${port}`
  const exited = once(child, 'exit')
  const deadline = Date.now() + START_LIMIT_MS
  for (;;) {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}:\n${printed}`)
    if (Date.now() > deadline) {
      child.kill('SIGKILL')
      throw new Error(`the server did not become ready:\n${printed}`)
    }
    const ready = await fetch(`${origin}/health/ready`).then(
      (answer) => answer.ok,
      () => false,
    )
    if (ready) break
    await sleep(50)
  }
  return {
    origin,
    child,
    output: () => printed,
    stop: async () => {
      child.kill('SIGTERM')
      const [code] = child.exitCode === null && child.signalCode === null ? await exited : [child.exitCode]
      return code
    },
    kill: async () => {
      child.kill('SIGKILL')
      await exited
    },
  }
}

/** An operator's token for the management API of `tenant`: client_credentials with `resource` (RFC 8707). */
export async function operatorToken(
  server: ServerProcess,
  baseUrl: string,
  tenant: string,
  scope: string,
): Promise<string> {
  const response = await fetch(`${server.origin}/system/oidc/token`, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      authorization: `Basic ${Buffer.from(`${operator.id}:${operator.secret}`).toString('base64')}`,
    },
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      scope,
      resource: `${baseUrl}/${tenant}/api`,
    }),
  })
  const body = (await response.json()) as { access_token?: string }
  if (!body.access_token) throw new Error(`no token: ${response.status} ${JSON.stringify(body)}`)
  return body.access_token
}
