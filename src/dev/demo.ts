import { ensureClient } from '../clients/ensure-client.ts'
import { authenticate } from '../crypto.ts'
import { platformCtx, ROLES } from '../ctx.ts'
import { env } from '../env.ts'
import { Conflict, describeError } from '../errors.ts'
import { ensureTenant } from '../tenants/tenants.ts'
import { grantRole } from '../users/roles.ts'
import { listUsers } from '../users/user-list.ts'
import { createUser, updateUser } from '../users/users.ts'
import { keepFile } from './kept-files.ts'

export const DEMO_TENANT = 'demo'
export const DEMO_ADMIN = 'admin@demo.example'

/** What a person or a script needs to use a client. */
export type ClientCredentials = {
  name: string
  appType: string
  clientId: string
  clientSecret: string | null
}

/** Where the web app of src/dev/demo-client.routes.ts may be opened. */
export const DEMO_ORIGINS = [env.baseUrl, `http://127.0.0.1:${env.port}`]

/**
 * Secret of a client that the platform makes for itself. Derived from the server key, so that processes on several
 * machines that share a database agree without asking each other, and an emptied data directory changes nothing.
 */
export const derivedSecret = (tenant: string, clientId: string): string =>
  authenticate('bootstrap-client', `${tenant}\n${clientId}`).toString('base64url')

/** Ids are constants, so that processes which start at once mean the same clients. */
const CLIENTS = {
  web: {
    id: 'client_01j0000000e008000000000001',
    name: 'Demo web app',
    description: 'Try a sign-in with it at /dev/client.',
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
    description: 'Calls the management surface of the demo tenant.',
    appType: 'machine',
    callbacks: [],
    allowedLogoutUrls: [],
    scopes: [...ROLES.admin],
    requireConsent: false,
  },
}
export type DemoClientKey = keyof typeof CLIENTS

const hasSecret = (appType: string): boolean => appType === 'web' || appType === 'machine'

/** Credentials of the demo clients, as `demo.json` keeps them. */
export function demoClients(): Record<DemoClientKey, ClientCredentials> {
  const entries = Object.entries(CLIENTS).map(([key, { id, name, appType }]) => {
    const clientSecret = hasSecret(appType) ? derivedSecret(DEMO_TENANT, id) : null
    return [key, { name, appType, clientId: id, clientSecret }] as const
  })
  const kept = keepFile('demo.json', {
    tenant: DEMO_TENANT,
    admin: DEMO_ADMIN,
    clients: Object.fromEntries(entries) as Record<DemoClientKey, ClientCredentials>,
  })
  return kept.clients
}

const PEOPLE = [
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

/** Who can sign in to the demo tenant: a code goes to people who exist, and to nobody else. */
export const DEMO_ADDRESSES = [DEMO_ADMIN, ...PEOPLE.map(({ email }) => email)]

async function seedPeople(): Promise<void> {
  const ctx = platformCtx(DEMO_TENANT)
  // The role comes with the user: a start that is cut off leaves no administrator without one.
  const { user: admin } = await grantRole(ctx, DEMO_ADMIN, 'admin')
  await updateUser(ctx, admin.id, { name: 'Demo Admin', emailVerified: true })
  for (const person of PEOPLE) await createUser(ctx, { ...person, emailVerified: true })
}

/**
 * Ensures the demo tenant: its clients are put back as they are here at every start, its people are made only while
 * it has none. Any number of processes may do so at once.
 */
export async function ensureDemo(): Promise<ClientCredentials[]> {
  await ensureTenant(DEMO_TENANT, { friendlyName: 'Demo', supportUrl: 'https://example.com/help' })
  const credentials = demoClients()
  for (const key of Object.keys(CLIENTS) as DemoClientKey[]) {
    const { clientId, clientSecret } = credentials[key]
    await ensureClient(DEMO_TENANT, { ...CLIENTS[key], id: clientId, secret: clientSecret })
  }
  const anyone = await listUsers(platformCtx(DEMO_TENANT), { first: 1 })
  if (anyone.rows.length === 0)
    await seedPeople().catch((error: unknown) => {
      // Another process is making them.
      if (!(describeError(error) instanceof Conflict)) throw error
    })
  return Object.values(credentials)
}
