import { createClient } from '../../src/clients/clients.ts'
import { type Ctx, createPlatformCtx } from '../../src/context/context.ts'
import { newId } from '../../src/core/crypto.ts'
import { SYSTEM_TENANT } from '../../src/core/scopes.ts'
import { announceInsertion } from '../../src/database/insertions.ts'
import { createEventRow } from '../../src/events/log.ts'
import { createIdentityProvider } from '../../src/idps/idps.ts'
import { ensureTenant } from '../../src/tenants/tenants.ts'
import { createPeople, IDP_ID, type SeededUser, type SeedOptions } from './people.ts'
import { countUsers, insertRows } from './write.sql.ts'

const BATCH_USERS = 1000
/** The retention of events: older ones are not generated. */
const EVENT_AGE_MS = 90 * 86_400_000

const CLIENTS = [
  { name: 'Shop', appType: 'web' },
  { name: 'Mobile app', appType: 'native' },
  { name: 'Customer portal', appType: 'single-page' },
  { name: 'Checkout', appType: 'web' },
  { name: 'Partner API', appType: 'machine' },
] as const

async function addClients(ctx: Ctx, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let n = 0; n < count; n++) {
    const { name, appType } = CLIENTS[n % CLIENTS.length] as (typeof CLIENTS)[number]
    const { client } = await createClient(ctx, {
      name: n < CLIENTS.length ? name : `${name} ${Math.floor(n / CLIENTS.length) + 1}`,
      appType,
      type: name === 'Checkout' ? 'payment' : 'login',
      ...(appType !== 'machine' && { callbacks: [`https://app-${n}.example.com/callback`] }),
    })
    if (appType !== 'machine') ids.push(client.id)
  }
  return ids
}

/** Writes users with their rows in one transaction; triggers maintain the counts and the search terms. */
async function writePeople(ctx: Ctx, people: readonly SeededUser[], until: Date): Promise<void> {
  const after = until.getTime() - EVENT_AGE_MS
  const events = people.flatMap(({ user, events }) =>
    events
      .map((event) => event as Parameters<typeof createEventRow>[1] & { occurredAt: Date; ip?: string })
      .filter(({ occurredAt }) => occurredAt.getTime() > after)
      .map(({ occurredAt, ip = null, ...event }) => ({
        ...createEventRow({ ...ctx, ip }, { ...event, userId: user.id }),
        occurredAt,
      })),
  )
  const rows = {
    User: people.map(({ user }) => user),
    Credential: people.flatMap(({ credential }) => credential ?? []),
    IdpUser: people.flatMap(({ idpUser }) => idpUser ?? []),
    Session: people.flatMap(({ sessions }) => sessions),
    Event: events.sort((a, b) => a.occurredAt.getTime() - b.occurredAt.getTime()),
  }
  await ctx.db.transaction(async (tx) => {
    for (const [table, list] of Object.entries(rows)) await insertRows(tx, table, list)
  })
}

export type TenantSeed = Omit<SeedOptions, 'clientIds'> & { tenant: string; clients: number }

/**
 * Creates a tenant with generated users, in `parallel` transactions at once.
 * Throws an Error when the tenant has users already.
 */
export async function seedTenant(
  { tenant, clients, ...options }: TenantSeed,
  { parallel = 1, progress = () => {} }: { parallel?: number; progress?: (users: number) => void } = {},
): Promise<void> {
  await ensureTenant(SYSTEM_TENANT, { friendlyName: 'System' })
  await ensureTenant(tenant, { friendlyName: `Seeded: ${tenant}` })
  const present = await countUsers(tenant)
  if (present > 0)
    throw new Error(`Tenant ${tenant} has ${present} users already: seed another one, or delete it before.`)
  const ctx: Ctx = { ...createPlatformCtx(tenant), requestId: newId('event') }
  await createIdentityProvider(ctx, {
    id: IDP_ID,
    type: 'oidc',
    name: 'Partner',
    clientId: 'vestibule',
    issuer: 'https://login.partner.example',
  })
  const people = createPeople({ ...options, clientIds: await addClients(ctx, clients) })
  let written = 0
  const work = async () => {
    for (;;) {
      const batch: SeededUser[] = []
      for (let next = people.next(); !next.done; next = people.next()) {
        batch.push(next.value)
        if (batch.length === BATCH_USERS) break
      }
      if (batch.length === 0) return
      await writePeople(ctx, batch, options.until)
      written += batch.length
      progress(written)
    }
  }
  await Promise.all(Array.from({ length: parallel }, work))
  announceInsertion('Event', tenant)
}
