import { beforeEach, describe, expect, vi } from 'vitest'
import { findTenant } from '../../src/access/tenant-cache.ts'
import { requestEmailChange } from '../../src/account/request-address-change.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { SYSTEM_TENANT } from '../../src/core/scopes.ts'
import { awaitDeliveries } from '../../src/delivery/background.ts'
import { createTenant } from '../../src/invitations/create-tenant.ts'
import { sendSignInPasscode } from '../../src/passcodes/send-passcode.ts'
import { startBrowserSession } from '../../src/sessions/sessions.ts'
import { createUser } from '../../src/users/users.ts'
import { ctxFor, newTenant } from '../support/actors.ts'
import { logOf } from '../support/events.ts'
import { setClock } from '../support/passcodes.ts'
import { test as base } from '../support/tenant-per-test.ts'
import { newSlug } from '../support/tenants.ts'
import { VISIT } from '../support/visit.ts'

const servers = await vi.hoisted(async () =>
  (await import('../support/message-servers.ts')).startMessageServers(),
)

const UNAVAILABLE = {
  status: 503,
  message: 'Messages cannot be delivered at the moment; try again.',
}
/** Requests a code on the hosted pages and waits for all that happens in the background. */
async function requestCode(tenant: string, address: string): Promise<void> {
  const ctx = { ...(await ctxFor(tenant)), actor: { kind: 'anonymous' } as const, ip: '192.0.2.44' }
  await sendSignInPasscode(ctx, address, VISIT)
  await awaitDeliveries()
}

/** With three addresses of users, and three that no user has. */
const test = base
  .extend('known', async ({ tenant, ctx }) => {
    const addresses = [1, 2, 3].map((index) => `known${index}@${tenant}.example`)
    for (const email of addresses) await createUser(ctx, { email, emailVerified: true })
    return addresses
  })
  .extend('unknown', ({ tenant }) => [1, 2, 3].map((index) => `unknown${index}@${tenant}.example`))

test.beforeAll(({ app: _ }) => {})
let now = Date.now()
beforeEach(() => {
  servers.reset()
  // Later than the last successful connection and the last failure of the test before.
  now += 120_000
  setClock(now)
})

describe('a mailbox that the mail server rejects', () => {
  test('does not count as an outage, however many there are', async ({ tenant, known, unknown }) => {
    for (const address of known) servers.unknownMailboxes.add(address)
    for (const address of [...known, ...unknown]) await requestCode(tenant, address)
    await expect(requestCode(tenant, `next@${tenant}.example`)).resolves.toBeUndefined()
    expect(servers.mails).toEqual([])
  })

  test('does not delay the mail of other users', async ({ tenant, known: [refused = '', other = ''] }) => {
    servers.unknownMailboxes.add(refused)
    await requestCode(tenant, refused)
    await requestCode(tenant, other)
    expect(servers.mails).toMatchObject([{ to: [other] }])
  })
})

describe('a mail server that cannot be connected to', () => {
  test.for([['known'], ['unknown']] as const)(
    'is reported for every address, after three %s ones',
    async ([kind], { tenant, known, unknown }) => {
      servers.refusesConnections = true
      for (const address of { known, unknown }[kind]) await requestCode(tenant, address)
      for (const address of [...known, ...unknown])
        await expect(requestCode(tenant, address)).rejects.toMatchObject(UNAVAILABLE)
    },
  )

  test('is not reported after many requests for one or two addresses', async ({ tenant, known, unknown }) => {
    servers.refusesConnections = true
    for (let round = 0; round < 4; round += 1)
      for (const address of [known[0] ?? '', unknown[0] ?? '']) await requestCode(tenant, address)
    await expect(requestCode(tenant, known[0] ?? '')).resolves.toBeUndefined()
  })

  test('is reported on the pages of the tenant whose addresses were tried, and not of another', async ({
    tenant,
    unknown,
  }) => {
    servers.refusesConnections = true
    for (const address of unknown) await requestCode(tenant, address)
    const neighbor = await newTenant()
    await expect(requestCode(neighbor, `ada@${neighbor}.example`)).resolves.toBeUndefined()
    await expect(requestCode(tenant, 'ada@example.com')).rejects.toMatchObject(UNAVAILABLE)
  })

  test('is tried again after ten seconds', async ({ tenant, known, unknown }) => {
    servers.refusesConnections = true
    for (const address of unknown) await requestCode(tenant, address)
    servers.refusesConnections = false
    setClock(now + 11_000)
    await requestCode(tenant, known[0] ?? '')
    expect(servers.mails).toMatchObject([{ to: [known[0]] }])
    await expect(requestCode(tenant, known[1] ?? '')).resolves.toBeUndefined()
  })

  test('leaves no tenant whose administrator could not be invited, and its slug is free', async () => {
    servers.refusesConnections = true
    const system = createPlatformCtx(SYSTEM_TENANT)
    const input = { slug: newSlug(), administrator: { email: 'grace@acme.example' } }
    await expect(createTenant(system, input)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    expect(await findTenant(input.slug)).toBeNull()
    const recorded = (await logOf(SYSTEM_TENANT)).filter(({ subjectIds }) => subjectIds.includes(input.slug))
    expect(recorded.map(({ type }) => type)).toEqual(['tenant.created', 'tenant.deleted'])
    servers.refusesConnections = false
    await createTenant(system, input)
    expect(servers.mails).toMatchObject([{ to: ['grace@acme.example'] }])
  })

  test('does not last longer when the clock is set back', async ({ tenant, known, unknown }) => {
    servers.refusesConnections = true
    for (const address of unknown) await requestCode(tenant, address)
    servers.refusesConnections = false
    setClock(now - 3_600_000)
    await expect(requestCode(tenant, known[0] ?? '')).resolves.toBeUndefined()
  })

  test('is reported to users who change their address', async ({ tenant, ctx, known, unknown }) => {
    const { id: userId } = await createUser(ctx, { email: `owner@${tenant}.example`, emailVerified: true })
    const { session } = await ctx.db.transaction((tx) =>
      startBrowserSession(tx, ctx, { userId, proof: { method: 'passcode', amr: ['otp'] } }),
    )
    const ids = { userId, clientId: null, grantId: null, sessionId: session.id }
    const own = { ...ctx, actor: { kind: 'user' as const, tenant, ...ids, oidcScopes: new Set(['account']) } }
    servers.refusesConnections = true
    // The first is free, the second belongs to another user and gets no code.
    for (const [index, email] of [unknown[0], known[0]].entries())
      await requestEmailChange(own, { email }, new Date(now + index * 31_000))
    await awaitDeliveries()
    await requestCode(tenant, unknown[2] ?? '')
    await expect(requestEmailChange(own, { email: 'new@example.com' })).rejects.toMatchObject(UNAVAILABLE)
  })
})
