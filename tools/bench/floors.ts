import { spawn } from 'node:child_process'
import { createHmac, randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import type autocannon from 'autocannon'
import { freePort } from '../../test/support/process.ts'
import { readCpuSeconds, readDatabaseCpuSeconds } from './cpu.ts'
import { type Deployment, untilReady } from './deployment.ts'
import { type Measurement, measure, type Scenario, type Target } from './measure.ts'
import { type Cost, computeRatio, findWorse, formatRatios, type Ratios } from './ratios.ts'
import { requestSession, type Seed } from './seed.ts'

const BASELINE = new URL('baseline.json', import.meta.url)
const FORM = 'application/x-www-form-urlencoded'
const JSON_TYPE = { 'content-type': 'application/json' }
const TOKENS = 100

/** The server of floor.ts on the database of the deployment, and its requests by scenario. */
export type Floor = Target & { requests: Record<string, Pick<Scenario, 'requests'>>; stop: () => void }

const form = (fields: Record<string, string>): string => new URLSearchParams(fields).toString()

export async function startFloor(deployment: Deployment, { tenant, userId }: Seed): Promise<Floor> {
  const [port, key] = [await freePort(), randomBytes(32).toString('base64url')]
  const origin = `http://127.0.0.1:${port}`
  const child = spawn(process.execPath, ['--import', 'tsx', new URL('floor.ts', import.meta.url).pathname], {
    env: {
      PATH: process.env.PATH,
      PORT: String(port),
      DATABASE_URL: deployment.databaseUrl,
      FLOOR_KEY: key,
      FLOOR_USER: userId,
      FLOOR_TENANT: tenant,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  await untilReady(origin, child)
  const session = await requestSession(deployment.db, userId)
  return {
    origin,
    cpuSeconds: () => readCpuSeconds(child.pid),
    databaseCpuSeconds: () => readDatabaseCpuSeconds(deployment.db, 'floor'),
    statements: async () => 0,
    walBytes: deployment.walBytes,
    requests: await buildRequests(origin, key, { tenant, session }),
    stop: () => child.kill('SIGTERM'),
  }
}

async function buildRequests(
  origin: string,
  key: string,
  { tenant, session }: { tenant: string; session: string },
): Promise<Floor['requests']> {
  const client = {
    authorization: `Basic ${Buffer.from(`floor:${key}`).toString('base64')}`,
    'content-type': FORM,
  }
  const createCode = (): string => {
    const id = randomBytes(20).toString('hex')
    return `${id}.${createHmac('sha256', key).update(id).digest('base64url')}`
  }
  const redeem = () => form({ grant_type: 'authorization_code', code: createCode() })
  const asked = await Promise.all(
    Array.from({ length: TOKENS }, async () =>
      (await fetch(`${origin}/token`, { method: 'POST', headers: client, body: redeem() })).json(),
    ),
  )
  const refreshTokens = asked.map((tokens) => tokens.refresh_token as string)
  const bearer = asked[0].access_token as string
  const post = (
    path: string,
    body: string,
    headers: Record<string, string> = client,
  ): autocannon.Request => ({
    method: 'POST',
    path,
    headers,
    body,
  })
  const nodes =
    'nodes { id name givenName familyName email emailVerified phoneNumber locked lockedAt lastSeenAt updatedAt createdAt }'
  const byName: Record<string, autocannon.Request> = {
    client_credentials: post('/token', form({ grant_type: 'client_credentials' })),
    'code exchange': { ...post('/token', ''), setupRequest: (request) => ({ ...request, body: redeem() }) },
    refresh: {
      ...post('/token', ''),
      setupRequest: (request) => ({
        ...request,
        body: form({ grant_type: 'refresh_token', refresh_token: refreshTokens.pop() ?? '' }),
      }),
      onResponse: (_status, body) => refreshTokens.push(JSON.parse(body).refresh_token),
    },
    userinfo: { path: '/userinfo', headers: { authorization: `Bearer ${bearer}` } },
    introspection: post('/introspect', form({ token: bearer })),
    'authorize, live session': { path: '/authorize', headers: { cookie: `vst_sid_${tenant}=${session}` } },
    'session check': post('/session', JSON.stringify({ sessionToken: session }), JSON_TYPE),
    'GraphQL users, 50 of 12 fields': post(
      '/graphql',
      JSON.stringify({ query: `{ users { ${nodes} } }` }),
      JSON_TYPE,
    ),
    'REST users, 50': { path: '/users' },
  }
  return Object.fromEntries(Object.entries(byName).map(([name, request]) => [name, { requests: [request] }]))
}

export const toCost = ({ cpuSecondsPer1000, databaseCpuSecondsPer1000 }: Measurement): Cost => ({
  server: cpuSecondsPer1000,
  database: databaseCpuSecondsPer1000,
})

const readBaseline = (): Ratios => JSON.parse(readFileSync(BASELINE, 'utf8')) as Ratios

/**
 * Measures the scenarios that the floor has, in turns with the floor, and compares the ratios with those of
 * baseline.json, which `writesBaseline` replaces. `isWithin` is false when an operation became worse or requests failed.
 */
export async function compareFloors(
  deployment: Deployment,
  seed: Seed,
  scenarios: Scenario[],
  { rounds, seconds, writesBaseline }: { rounds: number; seconds: number; writesBaseline: boolean },
): Promise<{ table: string; isWithin: boolean }> {
  const floor = await startFloor(deployment, seed)
  const ratios: Ratios = {}
  let failures = 0
  try {
    for (const scenario of scenarios) {
      const load = floor.requests[scenario.name]
      if (!load) continue
      const measured: { ours: Cost; floor: Cost }[] = []
      for (let round = 0; round <= rounds; round++) {
        const ours = await measure(deployment, scenario, seconds)
        const least = await measure(floor, { ...scenario, prepare: undefined, ...load }, seconds)
        failures += ours.failures + least.failures
        // The first round compiles the code of both.
        if (round > 0) measured.push({ ours: toCost(ours), floor: toCost(least) })
      }
      ratios[scenario.name] = computeRatio(measured)
    }
  } finally {
    floor.stop()
  }
  const baseline = readBaseline()
  if (writesBaseline) writeFileSync(BASELINE, `${JSON.stringify(ratios, null, 2)}\n`)
  const table = formatRatios(ratios, baseline)
  return {
    table: failures > 0 ? `${table}\n${failures} requests failed` : table,
    isWithin: failures === 0 && findWorse(ratios, baseline).length === 0,
  }
}
