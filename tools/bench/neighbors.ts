import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { typeid } from 'typeid-js'
import type { Deployment } from './deployment.ts'
import type { Flood } from './flood.ts'
import { createTarget } from './lists.ts'
import { REDIRECT_URI, type Seed } from './seed.ts'

/** A quiet p99 is multiplied by this at most while another tenant is flooded. */
const MAX_RATIO = 3
const ROUNDS = 3
/** Requests of the flood that are open at any time. */
const CONNECTIONS = 30
const KINDS: Flood['kind'][] = ['lists', 'counts', 'imports', 'exports', 'subscriptions']
/** Time between two requests of the quiet tenant on each of its connections. */
const PAUSE_MS = 5
const PROBES = 2

/** Signs the user in and returns the request target of an authorize request with consent, and its cookie. */
export async function prepareAuthorize({ db }: Deployment, { tenant, web, userId }: Seed) {
  const token = randomBytes(32).toString('base64url')
  await db.query(
    `INSERT INTO "Session" ("tenantId", "id", "userId", "kind", "tokenHash", "proofs", "expiresAt")
     VALUES ($1, $2, $3, 'browser', $4, jsonb_build_array(jsonb_build_object('method', 'passcode', 'amr', '["otp"]'::jsonb, 'at', now())), now() + interval '1 hour')`,
    [tenant, typeid('session').toString(), userId, createHash('sha256').update(token).digest()],
  )
  const query = new URLSearchParams({
    client_id: web.id,
    redirect_uri: REDIRECT_URI,
    response_type: 'code',
    scope: 'openid',
    code_challenge: createHash('sha256').update('verifier').digest('base64url'),
    code_challenge_method: 'S256',
    prompt: 'none',
  })
  return { path: `/${tenant}/oidc/authorize?${query}`, cookie: `vst_sid_${tenant}=${token}` }
}

type Target = Awaited<ReturnType<typeof prepareAuthorize>>
const agent = new Agent({ keepAlive: true })

/** The time of one authorize request in milliseconds. Throws unless it issues a code. */
function timeAuthorize(origin: string, { path, cookie }: Target): Promise<number> {
  const started = performance.now()
  return new Promise((resolve, reject) => {
    request(`${origin}${path}`, { agent, headers: { cookie } }, (response) => {
      response.resume().once('end', () => {
        if (/[?&]code=/.test(response.headers.location ?? '')) resolve(performance.now() - started)
        else reject(new Error(`authorize answered ${response.statusCode} ${response.headers.location}`))
      })
    })
      .once('error', reject)
      .end()
  })
}

export async function probe(origin: string, target: Target, seconds: number): Promise<number[]> {
  const times: number[] = []
  const deadline = performance.now() + seconds * 1000
  await Promise.all(
    Array.from({ length: PROBES }, async () => {
      while (performance.now() < deadline) {
        times.push(await timeAuthorize(origin, target))
        await sleep(PAUSE_MS)
      }
    }),
  )
  return times
}

/** Floods in another process while `work` runs. Returns the result, and the number of responses by status. */
async function duringFlood<Result>(flood: Flood, work: () => Promise<Result>): Promise<[Result, string]> {
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', new URL('flood.ts', import.meta.url).pathname, JSON.stringify(flood)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const output = text(child.stdout)
  try {
    await sleep(2000)
    return [await work(), await stop()]
  } finally {
    child.kill('SIGKILL')
  }
  async function stop(): Promise<string> {
    child.kill('SIGTERM')
    if (child.exitCode === null) await once(child, 'exit')
    return (await output).trim()
  }
}

export const percentile = (values: number[], share: number): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length * share)] ?? Number.NaN
export const show = (milliseconds: number): string => milliseconds.toFixed(1).padStart(8)

/**
 * Measures the time of authorize at a quiet tenant, alone and while another tenant is flooded with what it may
 * ask for. Both are measured in turns in one run, and the ratio of their 99th percentiles counts. Returns a
 * table, and whether all are within the limit.
 */
export async function compareNeighbors(
  deployment: Deployment,
  seed: Seed,
  users: number,
  seconds: number,
): Promise<{ table: string; isWithin: boolean }> {
  const target = await prepareAuthorize(deployment, seed)
  const scope = 'users:read users:write users:read_app_metadata events:read sessions:read idps:read'
  const { tenant, token } = await createTarget(deployment, 'flooded', users, scope)
  const lines = [
    'flood          quiet p50  quiet p99  flood p50  flood p99     ratio  responses of the flood',
  ]
  let isWithin = true
  await probe(deployment.origin, target, 3)
  for (const kind of KINDS) {
    const times: { quiet: number[]; flooded: number[] } = { quiet: [], flooded: [] }
    let responses = ''
    for (let round = 0; round < ROUNDS; round += 1) {
      times.quiet.push(...(await probe(deployment.origin, target, seconds / ROUNDS)))
      const flood = { origin: deployment.origin, tenant, token, kind, connections: CONNECTIONS }
      const [flooded, output] = await duringFlood(flood, () =>
        probe(deployment.origin, target, seconds / ROUNDS),
      )
      times.flooded.push(...flooded)
      responses = output
      await sleep(1000)
    }
    const [quiet, flooded] = [percentile(times.quiet, 0.99), percentile(times.flooded, 0.99)]
    const ratio = flooded / quiet
    isWithin &&= ratio <= MAX_RATIO
    lines.push(
      [
        kind.padEnd(14),
        show(percentile(times.quiet, 0.5)),
        show(quiet),
        show(percentile(times.flooded, 0.5)),
        show(flooded),
        ratio.toFixed(2).padStart(8),
        ` ${responses}`,
      ].join('  '),
    )
    process.stdout.write(`${lines.at(-1)}\n`)
  }
  return { table: lines.join('\n'), isWithin }
}
