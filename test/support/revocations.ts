import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '../../src/clients/clients.ts'
import { revokeUserConsent } from '../../src/consents/consents.ts'
import { platformCtx } from '../../src/ctx.ts'
import { inTransaction, sql } from '../../src/db.ts'
import { upsertConsent } from '../../src/oidc/signin/consents.sql.ts'
import { revokeSession } from '../../src/sessions/sessions.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { deleteTenant } from '../../src/tenants/tenants.ts'
import { setUserRoles } from '../../src/users/roles.ts'
import { deleteUser, lockUser } from '../../src/users/users.ts'
import {
  answerIn,
  authorizePath,
  Browser,
  exchange,
  makeClient,
  makeUser,
  REDIRECT_URI,
  refreshWith,
  signInAt,
  userinfoOf,
} from '../oidc/provider.ts'
import { newTenant, tokenFor } from './actors.ts'
import type { TestApp } from './app.ts'
import { openEventStream } from './streams.ts'

const SCOPE = 'openid profile session users:read sessions:read'
/** Tokens of the tenant are for this API as well, whose server asks what they are worth. */
const RESOURCE = 'urn:orders'

/** A person with a role who is signed in through a client, with everything that can be had by that. */
export async function signInPerson(app: TestApp) {
  const tenant = await newTenant()
  await updateSettings(platformCtx(tenant), { defaultAudience: RESOURCE })
  const resourceServer = await makeClient(tenant, { resources: [RESOURCE] })
  const { client: made, secret } = await createClient(platformCtx(tenant), {
    name: 'Relying party',
    appType: 'web',
    type: 'login',
    callbacks: [REDIRECT_URI],
    scopes: ['users:read', 'sessions:read'],
  })
  const client = { ...made, secret: secret ?? '' }
  const user = await makeUser(tenant, `ada@${tenant}.example`)
  await setUserRoles(platformCtx(tenant), user.id, { roles: ['auditor'] })
  const browser = new Browser(app)
  const { location } = await signInAt(
    browser,
    authorizePath(tenant, client, { scope: SCOPE }),
    user.email ?? '',
  )
  const { body: online } = await exchange(app, tenant, client, answerIn(location).code ?? '')
  const again = async (scope: string) =>
    answerIn(
      (await browser.fetch(authorizePath(tenant, client, { scope, prompt: 'none' }))).headers.get('location'),
    ).code ?? ''
  const { body: offline } = await exchange(app, tenant, client, await again(`${SCOPE} offline_access`))
  const pendingCode = await again(SCOPE)
  const { access_token: accessToken = '', session_token: sessionToken = '', id_token: idToken = '' } = online
  const { access_token: offlineToken = '', refresh_token: refreshToken = '' } = offline
  const management = await tokenFor(tenant)
  return {
    ...{ tenant, client, resourceServer, user, browser, management, pendingCode },
    ...{ accessToken, sessionToken, idToken, offlineToken, refreshToken },
    sessionId: JSON.parse(Buffer.from(idToken.split('.')[1] ?? '', 'base64url').toString()).sid as string,
  }
}
export type Person = Awaited<ReturnType<typeof signInPerson>>

/** What introspection says of a token. */
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

/** Through which a token of any kind gets something out of the platform: true while it does. */
export const DOORS = {
  userinfo: async (app, { tenant, accessToken }) =>
    (await userinfoOf(app, tenant, accessToken)).status === 200,
  REST: async (app, { tenant, accessToken }) =>
    (await app.rest(tenant, accessToken, 'GET', '/users')).status === 200,
  GraphQL: async (app, { tenant, accessToken }) =>
    (await app.gql(tenant, accessToken, '{ users { page } }')).body.data?.users?.page === 0,
  viewer: async (app, { tenant, accessToken }) =>
    !!(await app.gql(tenant, accessToken, '{ viewer { user { id } } }')).body.data?.viewer?.user,
  introspection: (app, { tenant, resourceServer, accessToken }) =>
    isActive(app, tenant, resourceServer, accessToken),
  'introspection by its client': (app, { tenant, client, accessToken }) =>
    isActive(app, tenant, client, accessToken),
  'offline introspection': (app, { tenant, resourceServer, offlineToken }) =>
    isActive(app, tenant, resourceServer, offlineToken),
  // Before the refresh, after which it is over.
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
} satisfies Record<string, (app: TestApp, person: Person) => Promise<boolean>>
export type Door = keyof typeof DOORS | 'subscription' | 'offline subscription'

const ONLINE: Door[] = [
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
const OFFLINE: Door[] = [
  'offline introspection',
  'introspection of the refresh token',
  'refresh',
  'refresh with management scopes',
  'offline userinfo',
  'offline REST',
  'offline subscription',
]

/** What may happen to a person, and which doors it must close; all others must stay open. */
export const REVOCATIONS: Record<string, { closes: Door[]; happen: (person: Person) => Promise<unknown> }> = {
  'nothing at all': { closes: [], happen: async () => undefined },
  // What is offline outlives its session: that is what it is for (OIDC Core, section 11).
  logout: {
    closes: ONLINE,
    happen: ({ tenant, browser, idToken }) =>
      browser.fetch(`/${tenant}/oidc/logout?id_token_hint=${idToken}`),
  },
  'its session revoked': {
    closes: ONLINE,
    happen: ({ tenant, sessionId }) => revokeSession(platformCtx(tenant), sessionId),
  },
  'a lock': {
    closes: [...ONLINE, ...OFFLINE],
    happen: ({ tenant, user }) => lockUser(platformCtx(tenant), user.id),
  },
  'the user deleted': {
    closes: [...ONLINE, ...OFFLINE],
    happen: ({ tenant, user }) => deleteUser(platformCtx(tenant), user.id),
  },
  'the client deleted': {
    closes: [...ONLINE, ...OFFLINE],
    happen: ({ tenant, client }) =>
      inTransaction((sql) =>
        sql(`DELETE FROM "Client" WHERE "tenantId" = $1 AND "id" = $2`, [tenant, client.id]),
      ),
  },
  'the role removed': {
    closes: [
      'REST',
      'GraphQL',
      'subscription',
      'refresh with management scopes',
      'offline REST',
      'offline subscription',
    ],
    happen: ({ tenant, user }) => setUserRoles(platformCtx(tenant), user.id, { roles: [] }),
  },
  // The person stays signed in, and may let the client in again.
  'the consent taken back': {
    closes: [...ONLINE.filter((door) => door !== 'prompt=none'), ...OFFLINE],
    happen: async ({ tenant, user, client }) => {
      const agreed = { userId: user.id, clientId: client.id, scopes: ['openid'], claims: [], now: new Date() }
      await upsertConsent(sql, tenant, agreed)
      await revokeUserConsent(platformCtx(tenant), user.id, client.id)
    },
  },
  'the tenant deleted': {
    closes: [...ONLINE, ...OFFLINE],
    happen: ({ tenant }) => deleteTenant(platformCtx('system'), tenant),
  },
}

/** A second, and what a busy machine may add to the look that closes streams. */
const STREAM_LIMIT_MS = 1500

type Stream = { endedAt: number | null; close: () => void }

async function follow(app: TestApp, tenant: string, token: string): Promise<Stream> {
  const reader = await openEventStream(
    `${app.origin}/${tenant}/graphql`,
    token,
    'subscription { userLockChanged { __typename } }',
  )
  if (reader.status !== 200) throw new Error(`no stream: ${reader.status}`)
  const stream: Stream = { endedAt: null, close: reader.close }
  void (async () => {
    // Whatever still comes before the end is news that the token stood for.
    for (;;) {
      const event = await reader.next().catch(() => null)
      if (event && !event.data?.errors && event.event !== 'complete') continue
      stream.endedAt = performance.now()
      return
    }
  })()
  return stream
}

/** Lets everything of the table happen at once, each to a person of their own, and looks a second later what is open. */
export async function openDoorsAfterEach(app: TestApp): Promise<Map<string, Door[]>> {
  const cases: { name: string; person: Person; streams: Record<string, Stream> }[] = []
  for (const name of Object.keys(REVOCATIONS)) {
    const person = await signInPerson(app)
    const streams = {
      subscription: await follow(app, person.tenant, person.accessToken),
      'offline subscription': await follow(app, person.tenant, person.offlineToken),
    }
    // Everything that is cached is cached now.
    for (const door of ['userinfo', 'introspection', 'REST', 'GraphQL', 'session token'] as const)
      if (!(await DOORS[door](app, person))) throw new Error(`${door} was never open`)
    cases.push({ name, person, streams })
  }
  const happenedAt = performance.now()
  await Promise.all(cases.map(({ name, person }) => REVOCATIONS[name]?.happen(person)))
  const doneAt = performance.now()
  await sleep(1000)
  const open = new Map<string, Door[]>()
  for (const { name, person } of cases) {
    const doors: Door[] = []
    for (const [door, isOpen] of Object.entries(DOORS))
      if (await isOpen(app, person)) doors.push(door as Door)
    open.set(name, doors)
  }
  await sleep(Math.max(0, STREAM_LIMIT_MS - (performance.now() - doneAt)))
  for (const { name, streams } of cases)
    for (const [door, { endedAt, close }] of Object.entries(streams)) {
      if (endedAt !== null && endedAt < happenedAt) throw new Error(`${door} of ${name} ended by itself`)
      if (endedAt === null || endedAt - doneAt > STREAM_LIMIT_MS) open.get(name)?.push(door as Door)
      close()
    }
  return open
}
