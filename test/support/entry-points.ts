import { setTimeout as sleep } from 'node:timers/promises'
import { upsertConsent } from '../../src/consents/consents.sql.ts'
import { revokeUserConsent } from '../../src/consents/consents.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { SYSTEM_TENANT } from '../../src/core/scopes.ts'
import { revokeSession } from '../../src/sessions/revoke-sessions.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { deleteTenant } from '../../src/tenants/tenants.ts'
import { setUserRoles } from '../../src/users/roles.ts'
import { deleteUser, lockUser } from '../../src/users/users.ts'
import { newTenant, tokenFor } from './actors.ts'
import type { TestApp } from './app.ts'
import { inTransaction } from './database.ts'
import { test as base } from './fixtures.ts'
import { PageBrowser } from './page-browser.ts'
import {
  answerIn,
  authorizePath,
  exchange,
  makeClient,
  makeUser,
  refreshWith,
  signInAt,
  userinfoOf,
} from './protocol.ts'
import { openEventStream } from './streams.ts'

const SCOPE = 'openid profile session users:read sessions:read'
/** The API of a resource server, which introspects the tokens of the client. */
const RESOURCE = 'urn:orders'
/** One second, and the delay that a busy machine adds to the check that ends streams. */
const STREAM_TIMEOUT_MS = 1500

/** Signs in a user with a role at a client of a new tenant, and gets every kind of token, code and cookie. */
export async function signInUser(app: TestApp) {
  const tenant = await newTenant()
  await updateSettings(createPlatformCtx(tenant), { defaultAudience: RESOURCE })
  const resourceServer = await makeClient(tenant, { resources: [RESOURCE] })
  const client = await makeClient(tenant, { scopes: ['users:read', 'sessions:read'] })
  const email = `ada@${tenant}.example`
  const user = await makeUser(tenant, email)
  await setUserRoles(createPlatformCtx(tenant), user.id, { roles: ['auditor'] })
  const browser = new PageBrowser(app.origin)
  const { location } = await signInAt(browser, authorizePath(tenant, client, { scope: SCOPE }), email)
  const { body: online } = await exchange(app, tenant, client, answerIn(location).code ?? '')
  const authorizeSilently = async (scope: string) => {
    const response = await browser.fetch(authorizePath(tenant, client, { scope, prompt: 'none' }))
    return answerIn(response.headers.get('location')).code ?? ''
  }
  const offlineCode = await authorizeSilently(`${SCOPE} offline_access`)
  const { body: offline } = await exchange(app, tenant, client, offlineCode)
  // A token is for the management API or for another one, so the resource server gets its own.
  const issueForResource = async (scope: string) =>
    (await exchange(app, tenant, client, await authorizeSilently(scope), { resource: RESOURCE })).body
      .access_token ?? ''
  const resourceToken = await issueForResource(SCOPE)
  const offlineResourceToken = await issueForResource(`${SCOPE} offline_access`)
  const issueCode = () => authorizeSilently(SCOPE)
  const pendingCode = await issueCode()
  const { access_token: accessToken = '', session_token: sessionToken = '', id_token: idToken = '' } = online
  const { access_token: offlineToken = '', refresh_token: refreshToken = '' } = offline
  const management = await tokenFor(tenant)
  return {
    ...{ tenant, client, resourceServer, user, browser, management, issueCode, pendingCode },
    ...{
      resourceToken,
      offlineResourceToken,
      accessToken,
      sessionToken,
      idToken,
      offlineToken,
      refreshToken,
    },
    sessionId: JSON.parse(Buffer.from(idToken.split('.')[1] ?? '', 'base64url').toString()).sid as string,
  }
}
export type SignedInUser = Awaited<ReturnType<typeof signInUser>>

async function isActive(
  app: TestApp,
  tenant: string,
  { id, secret }: { id: string; secret: string },
  token: string,
): Promise<boolean> {
  const body = new URLSearchParams({ client_id: id, client_secret: secret, token })
  const response = await app.fetch(`/${tenant}/oidc/introspect`, { method: 'POST', body })
  return ((await response.json()) as { active?: boolean }).active === true
}

/** The ways in which a token, code or cookie gives access. Each returns true while it does. */
export const ENTRY_POINTS = {
  userinfo: async (app, { tenant, accessToken }) =>
    (await userinfoOf(app, tenant, accessToken)).status === 200,
  REST: async (app, { tenant, accessToken }) =>
    (await app.rest(tenant, accessToken, 'GET', '/users')).status === 200,
  GraphQL: async (app, { tenant, accessToken }) =>
    (await app.gql(tenant, accessToken, '{ users { page } }')).body.data?.users?.page === 0,
  viewer: async (app, { tenant, accessToken }) =>
    !!(await app.gql(tenant, accessToken, '{ viewer { user { id } } }')).body.data?.viewer?.user,
  introspection: (app, { tenant, resourceServer, resourceToken }) =>
    isActive(app, tenant, resourceServer, resourceToken),
  'introspection by its client': (app, { tenant, client, accessToken }) =>
    isActive(app, tenant, client, accessToken),
  'offline introspection': (app, { tenant, resourceServer, offlineResourceToken }) =>
    isActive(app, tenant, resourceServer, offlineResourceToken),
  // Before the refresh, which replaces the token.
  'introspection of the refresh token': (app, { tenant, client, refreshToken }) =>
    isActive(app, tenant, client, refreshToken),
  'session token': async (app, { tenant, management, sessionToken, client }) => {
    const body = { sessionToken, clientId: client.id }
    return (await app.rest(tenant, management, 'POST', '/sessions/authenticate', body)).status === 200
  },
  'prompt=none': async (_app, { tenant, client, browser }) => {
    const response = await browser.fetch(authorizePath(tenant, client, { prompt: 'none' }))
    return answerIn(response.headers.get('location')).code !== undefined
  },
  code: async (app, { tenant, client, pendingCode }) =>
    (await exchange(app, tenant, client, pendingCode)).status === 200,
  refresh: async (app, { tenant, client, refreshToken }) =>
    (await refreshWith(app, tenant, client, refreshToken)).status === 200,
  'refresh with management scopes': async (app, { tenant, client, refreshToken }) =>
    /users:read/.test((await refreshWith(app, tenant, client, refreshToken)).body.scope ?? ''),
  'offline userinfo': async (app, { tenant, offlineToken }) =>
    (await userinfoOf(app, tenant, offlineToken)).status === 200,
  'offline REST': async (app, { tenant, offlineToken }) =>
    (await app.rest(tenant, offlineToken, 'GET', '/users')).status === 200,
} satisfies Record<string, (app: TestApp, user: SignedInUser) => Promise<boolean>>
export type EntryPoint = keyof typeof ENTRY_POINTS | 'subscription' | 'offline subscription'

/** The entry points that give access, streams excepted. */
export async function listOpenEntryPoints(app: TestApp, user: SignedInUser): Promise<EntryPoint[]> {
  const open: EntryPoint[] = []
  for (const [name, isOpen] of Object.entries(ENTRY_POINTS))
    if (await isOpen(app, user)) open.push(name as EntryPoint)
  return open
}

const ONLINE: EntryPoint[] = [
  'introspection',
  'introspection by its client',
  'userinfo',
  'REST',
  'GraphQL',
  'viewer',
  'session token',
  'prompt=none',
  'code',
  'subscription',
]
const OFFLINE: EntryPoint[] = [
  'offline introspection',
  'introspection of the refresh token',
  'refresh',
  'refresh with management scopes',
  'offline userinfo',
  'offline REST',
  'offline subscription',
]

type Revocation = { closes: EntryPoint[]; apply: (user: SignedInUser) => Promise<unknown> }
/** Changes that revoke access, and the entry points that each closes. Every other one stays open. */
const REVOCATIONS: Record<string, Revocation> = {
  'no change': { closes: [], apply: async () => undefined },
  // Offline access outlives the session (OIDC Core, section 11).
  'a logout': {
    closes: ONLINE,
    apply: ({ tenant, browser, idToken }) => browser.fetch(`/${tenant}/oidc/logout?id_token_hint=${idToken}`),
  },
  'a revocation of the session': {
    closes: ONLINE,
    apply: ({ tenant, sessionId }) => revokeSession(createPlatformCtx(tenant), sessionId),
  },
  'a lock of the user': {
    closes: [...ONLINE, ...OFFLINE],
    apply: ({ tenant, user }) => lockUser(createPlatformCtx(tenant), user.id),
  },
  'a deletion of the user': {
    closes: [...ONLINE, ...OFFLINE],
    apply: ({ tenant, user }) => deleteUser(createPlatformCtx(tenant), user.id),
  },
  'a deletion of the client': {
    closes: [...ONLINE, ...OFFLINE],
    apply: ({ tenant, client }) =>
      inTransaction((tx) =>
        tx(`DELETE FROM "Client" WHERE "tenantId" = $1 AND "id" = $2`, [tenant, client.id]),
      ),
  },
  'a removal of the role': {
    closes: [
      'REST',
      'GraphQL',
      'subscription',
      'refresh with management scopes',
      'offline REST',
      'offline subscription',
    ],
    apply: ({ tenant, user }) => setUserRoles(createPlatformCtx(tenant), user.id, { roles: [] }),
  },
  // The user stays signed in, and the client may be authorized again.
  'a revocation of the consent': {
    closes: [...ONLINE.filter((name) => name !== 'prompt=none'), ...OFFLINE],
    apply: async ({ tenant, user, client }) => {
      const consent = {
        userId: user.id,
        clientId: client.id,
        scopes: ['openid'],
        claims: [],
        resources: [],
        now: new Date(),
      }
      await upsertConsent(createPlatformCtx(tenant).db, consent)
      await revokeUserConsent(createPlatformCtx(tenant), user.id, client.id)
    },
  },
  'a deletion of the tenant': {
    closes: [...ONLINE, ...OFFLINE],
    apply: ({ tenant }) => deleteTenant(createPlatformCtx(SYSTEM_TENANT), tenant),
  },
}

/** The changes, each with the entry points that stay open. */
export const REMAINING: [change: string, remaining: EntryPoint[]][] = Object.entries(REVOCATIONS).map(
  ([change, { closes }]) => {
    const all = [...Object.keys(ENTRY_POINTS), 'subscription', 'offline subscription'] as EntryPoint[]
    return [change, all.filter((name) => !closes.includes(name))]
  },
)

type Stream = { endedAt: number | null; close: () => void }

async function followLocks(app: TestApp, tenant: string, token: string): Promise<Stream> {
  const reader = await openEventStream(
    `${app.origin}/${tenant}/graphql`,
    token,
    'subscription { userLockChanged { __typename } }',
  )
  if (reader.status !== 200) throw new Error(`the subscription was answered ${reader.status}`)
  const stream: Stream = { endedAt: null, close: reader.close }
  void (async () => {
    for (;;) {
      const event = await reader.next().catch(() => null)
      if (event && !event.data?.errors && event.event !== 'complete') continue
      stream.endedAt = performance.now()
      return
    }
  })()
  return stream
}

/**
 * Applies all changes at once, each to its own user, and lists the entry points that are open one second
 * later.
 */
async function applyRevocations(app: TestApp): Promise<Map<string, EntryPoint[]>> {
  const prepare = async (change: string) => {
    const user = await signInUser(app)
    const streams: Record<string, Stream> = {
      subscription: await followLocks(app, user.tenant, user.accessToken),
      'offline subscription': await followLocks(app, user.tenant, user.offlineToken),
    }
    // Fills every cache.
    for (const name of ['userinfo', 'introspection', 'REST', 'GraphQL', 'session token'] as const)
      if (!(await ENTRY_POINTS[name](app, user))) throw new Error(`${name} was closed before the change`)
    return { change, user, streams }
  }
  const cases = await Promise.all(Object.keys(REVOCATIONS).map(prepare))
  const startedAt = performance.now()
  await Promise.all(cases.map(({ change, user }) => REVOCATIONS[change]?.apply(user)))
  const appliedAt = performance.now()
  await sleep(1000)
  const open = new Map<string, EntryPoint[]>()
  for (const { change, user } of cases) open.set(change, await listOpenEntryPoints(app, user))
  await sleep(Math.max(0, STREAM_TIMEOUT_MS - (performance.now() - appliedAt)))
  for (const { change, streams } of cases)
    for (const [name, { endedAt, close }] of Object.entries(streams)) {
      if (endedAt !== null && endedAt < startedAt) throw new Error(`${name} ended before ${change}`)
      if (endedAt === null || endedAt - appliedAt > STREAM_TIMEOUT_MS)
        open.get(change)?.push(name as EntryPoint)
      close()
    }
  return open
}

/** `test` with the entry points that are open one second after each change. */
export const test = base.extend('openAfter', { scope: 'file' }, ({ app }) => applyRevocations(app))
