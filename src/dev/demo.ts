import { ensureClient } from '../clients/ensure-client.ts'
import { createPlatformCtx } from '../context/context.ts'
import { computeMac } from '../core/crypto.ts'
import { env } from '../core/env.ts'
import { Conflict } from '../core/errors.ts'
import { ROLES } from '../core/scopes.ts'
import { toAppError } from '../core/to-app-error.ts'
import { ensureTenant } from '../tenants/tenants.ts'
import { listUsers } from '../users/list/user-list.ts'
import { grantRole } from '../users/roles.ts'
import { createUser, updateUser } from '../users/users.ts'
import { ensureDataFile } from './data-files.ts'

export const DEMO_TENANT = 'demo'
export const DEMO_ADMIN = 'admin@demo.example'

/** The credentials of a client. */
export type ClientCredentials = {
  name: string
  appType: string
  clientId: string
  clientSecret: string | null
}

/** The origins of the demo client at /dev/client. */
export const DEMO_ORIGINS = [env.baseUrl, `http://127.0.0.1:${env.port}`]

/**
 * Derives the secret of a client that Vestibule creates itself from ENCRYPTION_KEY, so that processes on
 * several machines with one database agree on it, and deleting the data directory does not change it.
 */
export const deriveClientSecret = (tenant: string, clientId: string): string =>
  computeMac('bootstrap-client', `${tenant}\n${clientId}`).toString('base64url')

/** Ids are constants, so that processes that start concurrently create the same clients. */
const DEMO_CLIENTS = {
  web: {
    id: 'client_01j0000000e008000000000001',
    name: 'Demo web app',
    description: 'Used by the sign-in demo at /dev/client.',
    appType: 'web',
    callbacks: DEMO_ORIGINS.map((origin) => `${origin}/dev/client/callback`),
    allowedLogoutUrls: DEMO_ORIGINS.map((origin) => `${origin}/dev/client`),
    scopes: [...ROLES.admin],
    requireConsent: true,
  },
  native: {
    id: 'client_01j0000000e008000000000002',
    name: 'Demo native app',
    description: 'For scripts on this machine; its loopback callback takes any port.',
    appType: 'native',
    callbacks: ['http://127.0.0.1/callback'],
    allowedLogoutUrls: [],
    scopes: [...ROLES.admin],
    requireConsent: false,
  },
  backend: {
    id: 'client_01j0000000e008000000000003',
    name: 'Demo backend',
    description: 'Calls the management API of the demo tenant.',
    appType: 'machine',
    callbacks: [],
    allowedLogoutUrls: [],
    scopes: [...ROLES.admin],
    requireConsent: false,
  },
}
export type DemoClientKey = keyof typeof DEMO_CLIENTS

const isConfidential = (appType: string): boolean => appType === 'web' || appType === 'machine'

/** The credentials of the demo clients, as stored in `demo.json`. */
export function getDemoClients(): Record<DemoClientKey, ClientCredentials> {
  const entries = Object.entries(DEMO_CLIENTS).map(([key, { id, name, appType }]) => {
    const clientSecret = isConfidential(appType) ? deriveClientSecret(DEMO_TENANT, id) : null
    return [key, { name, appType, clientId: id, clientSecret }] as const
  })
  const kept = ensureDataFile('demo.json', {
    tenant: DEMO_TENANT,
    admin: DEMO_ADMIN,
    clients: Object.fromEntries(entries) as Record<DemoClientKey, ClientCredentials>,
  })
  return kept.clients
}

const DEMO_USERS = [
  {
    name: 'Ada Lovelace',
    givenName: 'Ada',
    familyName: 'Lovelace',
    email: 'ada@demo.example',
    locale: 'en-GB',
  },
  {
    name: 'Grace Hopper',
    givenName: 'Grace',
    familyName: 'Hopper',
    email: 'grace@demo.example',
    locale: 'en-US',
  },
  {
    name: 'Konrad Zuse',
    givenName: 'Konrad',
    familyName: 'Zuse',
    email: 'konrad@demo.example',
    locale: 'de-DE',
  },
]

/** The users of the demo tenant. Codes are sent to existing users only. */
export const DEMO_ADDRESSES = [DEMO_ADMIN, ...DEMO_USERS.map(({ email }) => email)]

async function seedDemoUsers(): Promise<void> {
  const ctx = createPlatformCtx(DEMO_TENANT)
  // The user is created together with the role, so that an interrupted start leaves no administrator without
  // it.
  const { user: admin } = await grantRole(ctx, DEMO_ADMIN, 'admin')
  await updateUser(ctx, admin.id, { name: 'Demo Admin', emailVerified: true })
  for (const person of DEMO_USERS) await createUser(ctx, { ...person, emailVerified: true })
}

/**
 * Ensures the demo tenant. Its clients are reset at every start; its users are created only while it has
 * none. Processes may call it concurrently.
 */
export async function ensureDemo(): Promise<ClientCredentials[]> {
  await ensureTenant(DEMO_TENANT, { friendlyName: 'Demo', supportUrl: 'https://example.com/help' })
  const credentials = getDemoClients()
  for (const key of Object.keys(DEMO_CLIENTS) as DemoClientKey[]) {
    const { clientId, clientSecret } = credentials[key]
    await ensureClient(DEMO_TENANT, { ...DEMO_CLIENTS[key], id: clientId, secret: clientSecret })
  }
  const existing = await listUsers(createPlatformCtx(DEMO_TENANT), { first: 1 })
  if (existing.rows.length === 0)
    await seedDemoUsers().catch((error: unknown) => {
      // Another process creates them.
      if (!(toAppError(error) instanceof Conflict)) throw error
    })
  return Object.values(credentials)
}
