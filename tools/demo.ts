// npm run demo [-- --origin http://localhost:3000]
//
// Runs the main journey against the running server, step by step: the management API, a sign-in by code, a lock, a
// passkey, a sign-up, and an identity provider.
// The default of --origin is the address that BASE_URL or PORT configures.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import * as oidc from 'openid-client'
import { Admin } from './demo/admin.ts'
import { Person } from './demo/person.ts'
import { showPasskey, showProvider, showSignUp, type WaysIn } from './demo/ways-in.ts'

type DemoFile = {
  tenant: string
  clients: Record<'web' | 'backend', { clientId: string; clientSecret: string }>
}

const EVENT_LIMIT_MS = 5000
const REVOCATION_LIMIT_MS = 1000

const { values } = parseArgs({ options: { origin: { type: 'string' } } })
const origin = (
  values.origin ??
  process.env.BASE_URL ??
  `http://localhost:${process.env.PORT ?? 3000}`
).replace(/\/$/, '')

let number = 0
const step = (text: string) => process.stdout.write(`\n${++number}. ${text}\n`)
const note = (text: string) => process.stdout.write(`   ${text}\n`)

/** Waits until a condition is true; prints how long it took. */
async function until(what: string, holds: () => boolean | Promise<boolean>, limitMs: number): Promise<void> {
  const started = Date.now()
  while (!(await holds())) {
    if (Date.now() - started > limitMs) throw new Error(`not within ${limitMs} ms: ${what}`)
    await sleep(20)
  }
  note(`${what} (after ${Date.now() - started} ms)`)
}

function readDemoFile(): DemoFile {
  const path = join(process.env.DATA_DIR ?? '.vestibule', 'demo.json')
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as DemoFile
  } catch {
    throw new Error(
      `${path} cannot be read: start the server first, with npm start, and run this from the same folder`,
    )
  }
}

async function findServer(): Promise<void> {
  await fetch(`${origin}/health/live`).catch((cause: unknown) => {
    throw new Error(
      `nothing answers at ${origin}: start the server first, or say where it is with --origin`,
      {
        cause,
      },
    )
  })
}

async function main(): Promise<void> {
  await findServer()
  const { tenant, clients } = readDemoFile()
  const issuer = `${origin}/${tenant}`
  const redirectUri = `${origin}/dev/client/callback`

  step('An admin frontend pages through the users and watches sessions')
  const admin = await Admin.connect(issuer, clients.backend)
  type Users = { users: { totalSize: number; nodes: { email: string }[]; pageInfo: { endCursor: string } } }
  const fields = 'totalSize nodes { email } pageInfo { endCursor }'
  const page = await admin.query<Users>(`{ users(page: 0, pageSize: 2) { ${fields} } }`)
  note(`page 0 of ${page.users.totalSize} users: ${page.users.nodes.map(({ email }) => email).join(', ')}`)
  const after = page.users.pageInfo.endCursor
  const next = await admin.query<Users>(
    `query ($after: String) { users(first: 2, after: $after) { ${fields} } }`,
    { after },
  )
  note(`on from its last cursor: ${next.users.nodes.map(({ email }) => email).join(', ')}`)
  const seen = { ws: [] as string[], sse: [] as string[], locks: [] as string[] }
  const describe = ({ kind, reason }: { kind: string; reason: string | null }) =>
    reason ? `${kind} ${reason}` : kind
  const stopWs = admin.watchSessions((event) => seen.ws.push(describe(event)))
  const stopSse = admin.watchBySse(
    (event) => seen.sse.push(describe(event)),
    (kind) => seen.locks.push(kind),
  )
  await sleep(500)
  note('subscribed to sessions over WebSocket, to sessions and locks over server-sent events')

  step('A person opens a relying party and signs in')
  const config = await oidc.discovery(
    new URL(issuer),
    clients.web.clientId,
    clients.web.clientSecret,
    undefined,
    {
      execute: origin.startsWith('http:') ? [oidc.allowInsecureRequests] : [],
    },
  )
  const request = { redirect_uri: redirectUri, scope: 'openid profile email offline_access' }
  /** A link of the relying party, and the redemption of the code that it leads to. */
  async function createLink(more: Record<string, string> = {}) {
    const pkceCodeVerifier = oidc.randomPKCECodeVerifier()
    const [expectedState, expectedNonce] = [oidc.randomState(), oidc.randomNonce()]
    const url = oidc.buildAuthorizationUrl(config, {
      ...request,
      ...more,
      code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
      state: expectedState,
      nonce: expectedNonce,
    })
    const exchange = (landed: URL) =>
      oidc.authorizationCodeGrant(config, landed, { pkceCodeVerifier, expectedState, expectedNonce })
    return { url, exchange }
  }
  const createUser = async (prefix: string, name: string) => {
    const created = await admin.query<{ createUser: { user: { id: string; email: string } } }>(
      `mutation ($input: CreateUserInput!) { createUser(input: $input) { ... on CreateUserPayload { user { id email } } ... on UserError { code message } } }`,
      { input: { email: `${prefix}-${Date.now()}@demo.example`, name } },
    )
    return created.createUser.user
  }
  const user = await createUser('visitor', 'Demo Visitor')
  const person = new Person(origin, user.email, note)
  const link = await createLink()
  const landed = await person.signIn(link.url)
  note(`back at ${landed.origin}${landed.pathname} with a code`)

  step('The relying party (openid-client) exchanges the code with PKCE')
  const tokens = await link.exchange(landed)
  const claims = tokens.claims()
  if (!claims || claims.sub !== user.id) throw new Error('the ID token has another subject')
  note(`ID token: iss ${claims.iss}, sub ${claims.sub}, amr ${JSON.stringify(claims.amr)}`)
  const userinfo = await oidc.fetchUserInfo(config, tokens.access_token, claims.sub)
  note(`userinfo: ${userinfo.name}, ${userinfo.email}, verified: ${userinfo.email_verified}`)
  const refreshed = await oidc.refreshTokenGrant(config, tokens.refresh_token ?? '')
  note(`refreshed: a new access token for ${refreshed.expires_in} s, and a new refresh token`)

  step('The subscribers saw the session start')
  await until('WebSocket: STARTED', () => seen.ws.includes('STARTED'), EVENT_LIMIT_MS)
  await until('server-sent events: STARTED', () => seen.sse.includes('STARTED'), EVENT_LIMIT_MS)

  step('The administrator locks the person')
  await admin.query(
    'mutation ($id: ID!) { lockUser(input: {userId: $id}) { ... on UserError { message } } }',
    {
      id: user.id,
    },
  )
  const isRejected = () =>
    oidc.fetchUserInfo(config, refreshed.access_token, oidc.skipSubjectCheck).then(
      () => false,
      () => true,
    )
  await until('userinfo rejects the access token', isRejected, REVOCATION_LIMIT_MS)
  const error = await oidc.refreshTokenGrant(config, refreshed.refresh_token ?? '').then(
    () => 'nothing',
    (rejection: { error?: string }) => rejection.error,
  )
  if (error !== 'invalid_grant') throw new Error(`the refresh token was answered with ${error}`)
  note('the refresh token is answered with invalid_grant')
  await until('server-sent events: the lock', () => seen.locks.includes('LOCKED'), EVENT_LIMIT_MS)
  for (const [name, events] of [
    ['WebSocket', seen.ws],
    ['server-sent events', seen.sse],
  ] as const)
    await until(`${name}: ENDED LOCKED`, () => events.includes('ENDED LOCKED'), EVENT_LIMIT_MS)

  step('The relying party asks again, with prompt=none')
  const silent = await person.open((await createLink({ prompt: 'none' })).url)
  if (silent.searchParams.get('error') !== 'login_required') throw new Error(`answered with ${silent.search}`)
  note(`answered with error=login_required, iss=${silent.searchParams.get('iss')}`)

  const ways: WaysIn = {
    origin,
    issuer,
    admin,
    step,
    note,
    createLink: async () => {
      const { url, exchange } = await createLink()
      return {
        url,
        redeem: async (landed) => {
          const claims = (await exchange(landed)).claims()
          return `ID token: sub ${claims?.sub}, acr ${claims?.acr}, amr ${JSON.stringify(claims?.amr)}`
        },
      }
    },
  }
  await showPasskey(ways, (await createUser('passkey', 'Passkey Visitor')).email)
  await showSignUp(ways)
  await showProvider(ways)

  stopWs()
  stopSse()
  process.stdout.write('\nAll of it worked.\n')
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`\nThe demo failed: ${error instanceof Error ? error.message : error}\n`)
    process.exit(1)
  },
)
