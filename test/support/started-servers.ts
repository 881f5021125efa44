import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Json } from './json.ts'
import { operatorToken, type ServerProcess, startServer } from './process.ts'

export const SCOPES =
  'users:read users:write sessions:read sessions:write passcodes:write events:read clients:write tenant:read'

/**
 * Variables of a server on this process's database, with a data directory of its own; deletes it after the
 * test.
 */
export async function newServerEnv(): Promise<Record<string, string | undefined>> {
  const directory = await mkdtemp(join(tmpdir(), 'vestibule-process-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const { ENCRYPTION_KEY, DATABASE_URL, REDIS_URL, REDIS_PREFIX } = process.env
  return { DATA_DIR: directory, ENCRYPTION_KEY, DATABASE_URL, REDIS_URL, REDIS_PREFIX }
}

/** Starts a server, which is killed after the test if it still runs. */
export async function startTestServer(
  env: Record<string, string | undefined>,
  nodeOptions: readonly string[] = [],
): Promise<ServerProcess> {
  const server = await startServer(env, nodeOptions)
  onTestFinished(() => server.kill().catch(() => {}))
  return server
}

type Server = Pick<ServerProcess, 'origin'>

/** Executes an operation; throws unless it has data and no errors. */
export async function callGraphql(
  server: Server,
  tenant: string,
  token: string,
  query: string,
  variables = {},
): Promise<Json> {
  const response = await fetch(`${server.origin}/${tenant}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ query, variables }),
  })
  const body = (await response.json()) as { data?: Json; errors?: unknown }
  if (!body.data || body.errors) throw new Error(JSON.stringify(body))
  return body.data
}

/** POSTs `body`, or reads. */
export async function callRest(
  server: Server,
  tenant: string,
  token: string,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<{ status: number; headers: Headers; body: Json }> {
  const response = await fetch(`${server.origin}/${tenant}/api/v1${path}`, {
    method: body ? 'POST' : 'GET',
    headers: {
      authorization: `Bearer ${token}`,
      ...(body && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  return { status: response.status, headers: response.headers, body: (await response.json()) as Json }
}

/** Makes a tenant, and returns a token for it. */
export async function makeTenant(server: ServerProcess, baseUrl: string, slug: string): Promise<string> {
  const root = await operatorToken(server, baseUrl, 'system', 'tenants:write')
  await callGraphql(
    server,
    'system',
    root,
    'mutation ($s: String!) { createTenant(input: {slug: $s}) { __typename } }',
    { s: slug },
  )
  return operatorToken(server, baseUrl, slug, SCOPES)
}
