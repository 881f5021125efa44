import { describe, expect, vi } from 'vitest'
import type { Ctx } from '../../src/context/context.ts'
import { RateLimited } from '../../src/core/errors.ts'
import { checkDueDomains } from '../../src/jobs/domain-checks.ts'
import { listMembers } from '../../src/organizations/memberships.ts'
import {
  createOrganizationDomain,
  deleteOrganizationDomain,
  getOrganizationDomain,
  updateOrganizationDomain,
  verifyOrganizationDomain,
} from '../../src/organizations/organization-domains.ts'
import { createOrganization, deleteOrganization } from '../../src/organizations/organizations.ts'
import { createUser } from '../../src/users/users.ts'
import { ctxFor, newTenant } from '../support/actors.ts'
import { dbFor } from '../support/database.ts'
import { publishRecord, txtRecords } from '../support/dns-server.ts'
import { logOf } from '../support/events.ts'
import { test as base, HOUR } from '../support/passcodes.ts'
import { leastStatements } from '../support/statements.ts'

const DAY = 24 * HOUR

let count = 0
const test = base
  .extend('domain', () => `domain-${++count}.test`)
  .extend('newOrganization', ({ ctx }) => () => {
    count += 1
    return createOrganization(ctx, { slug: `organization-${count}`, name: 'Acme' })
  })
  /** Adds a domain to a new organization and publishes its record. */
  .extend('published', ({ ctx, newOrganization, domain }) => async (enrollment = 'none') => {
    const { id } = await newOrganization()
    const added = await createOrganizationDomain(ctx, id, { domain, enrollment })
    publishRecord(added)
    return added
  })

/** Runs the job at a time, for the domains of one tenant. */
async function checkAt({ tenant }: Ctx, time: number): Promise<void> {
  const { organizationDomain } = dbFor(tenant)
  await organizationDomain.updateMany({
    where: { tenantId: tenant, nextCheckAt: { lte: new Date(time) } },
    data: { nextCheckAt: new Date(0) },
  })
  await checkDueDomains(new Date(time))
}

const listDomainEvents = async ({ tenant }: Ctx) =>
  (await logOf(tenant)).filter(({ type }) => type.startsWith('organization_domain.'))

describe('a domain of an organization', () => {
  test('is looked up 120 times an hour at most, for all callers of the organization', async ({
    ctx,
    domain,
    newOrganization,
    published,
  }) => {
    const { id } = await published()
    const settled = await Promise.allSettled(
      Array.from({ length: 130 }, () => verifyOrganizationDomain(ctx, id)),
    )
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(120)
    await expect(verifyOrganizationDomain(ctx, id)).rejects.toBeInstanceOf(RateLimited)
    const { id: otherId } = await newOrganization()
    const other = await createOrganizationDomain(ctx, otherId, { domain: `other-${domain}` })
    expect(await verifyOrganizationDomain(ctx, other.id)).toMatchObject({ problem: 'missing' })
  })

  test('is proven by the value of its TXT record, among others, and not by another one', async ({
    ctx,
    domain,
    newOrganization,
  }) => {
    const { id: organizationId } = await newOrganization()
    const added = await createOrganizationDomain(ctx, organizationId, { domain })
    const { id, recordName, recordValue } = added
    expect(added).toMatchObject({ state: 'pending', recordName: `_vestibule-challenge.${domain}` })
    const verify = async (values?: string[] | 'failing') => {
      txtRecords.set(recordName, values ?? [])
      const { state, problem } = await verifyOrganizationDomain(ctx, id)
      return [state, problem]
    }
    expect(await verify()).toEqual(['pending', 'missing'])
    expect(await verify('failing')).toEqual(['pending', 'unanswered'])
    expect(await verify(['v=spf1 -all', `${recordValue}x`])).toEqual(['pending', 'different'])
    expect(await verify(['x'.repeat(300), recordValue])).toEqual(['verified', null])
    expect(await verify([])).toEqual(['expiring', 'missing'])
    expect(await verify([` ${recordValue} `])).toEqual(['verified', null])
    await deleteOrganizationDomain(ctx, id)
    expect(
      (await listDomainEvents(ctx)).map(({ type, organizationId: of, subjectIds }) => [type, of, subjectIds]),
    ).toEqual(
      ['created', 'verified', 'expiring', 'deleted'].map((name) => [
        `organization_domain.${name}`,
        organizationId,
        [id],
      ]),
    )
  })

  test('is kept while the DNS fails, and expires a week after its record has gone', async ({
    ctx,
    published,
  }) => {
    const { id, recordName } = await published()
    await verifyOrganizationDomain(ctx, id)
    const start = Date.now()
    const read = async () => (await getOrganizationDomain(ctx, id)).state
    txtRecords.set(recordName, 'failing')
    await checkAt(ctx, start + 8 * DAY)
    expect([await read(), (await getOrganizationDomain(ctx, id)).problem]).toEqual(['verified', 'unanswered'])
    txtRecords.set(recordName, [])
    await checkAt(ctx, start + 10 * DAY)
    await checkAt(ctx, start + 16 * DAY)
    expect(await read()).toBe('expiring')
    await Promise.all([checkAt(ctx, start + 18 * DAY), checkAt(ctx, start + 18 * DAY)])
    expect(await read()).toBe('pending')
    // Nobody looks it up any more.
    txtRecords.delete(recordName)
    await checkAt(ctx, start + 40 * DAY)
    expect((await listDomainEvents(ctx)).map(({ type }) => type.split('.')[1])).toEqual([
      'created',
      'verified',
      'expiring',
      'expired',
    ])
  })

  test('waits for one turn of each tenant at most, however many domains of another answer slowly', async ({
    ctx,
    domain,
  }) => {
    const due = async (by: Ctx, length: number, at: number) => {
      const { id: organizationId } = await createOrganization(by, {
        slug: domain.split('.')[0],
        name: 'Acme',
      })
      const data = Array.from({ length }, (_, n) => ({
        ...{ tenantId: by.tenant, organizationId, id: `domain_${n}_${by.tenant}`, recordValue: 'x' },
        ...{ domain: `d${n}.${by.tenant}.test`, verifiedAt: new Date(), nextCheckAt: new Date(at) },
      }))
      await dbFor(by.tenant).organizationDomain.createMany({ data })
    }
    const other = await ctxFor(await newTenant())
    await due(ctx, 60, 0)
    await due(other, 2, 1000)
    const asked = vi.spyOn(txtRecords, 'get')
    await checkDueDomains(new Date(2000))
    const order = asked.mock.calls.map(([name]) => name)
    asked.mockRestore()
    const place = (n: number) => order.indexOf(`_vestibule-challenge.d${n}.${other.tenant}.test`)
    expect(order.filter((name) => name.endsWith(`.${ctx.tenant}.test`))).toHaveLength(60)
    // Those of the first batch are asked at once.
    expect([place(0) >= 0 && place(0) < 20, place(1) >= 0 && place(1) < 20]).toEqual([true, true])
  })

  test('belongs to one organization of the tenant, also in a race, until that one loses it', async ({
    ctx,
    published,
  }) => {
    const added = [await published(), await published(), await published()]
    const results = await Promise.allSettled(added.map(({ id }) => verifyOrganizationDomain(ctx, id)))
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected'])
    const winner = added[results.findIndex(({ status }) => status === 'fulfilled')]
    const loser = added.find((each) => each !== winner)
    await expect(verifyOrganizationDomain(ctx, loser?.id ?? '')).rejects.toMatchObject({
      code: 'CONFLICT',
      message: 'Another organization of the tenant has proven the domain.',
    })
    await deleteOrganization(ctx, winner?.organizationId ?? '')
    expect(await verifyOrganizationDomain(ctx, loser?.id ?? '')).toMatchObject({ state: 'verified' })
  })

  test('is stored in ASCII and lower case, once, unless it is that of a public mail host', async ({
    ctx,
    newOrganization,
  }) => {
    const { id } = await newOrganization()
    const add = (domain: unknown) => createOrganizationDomain(ctx, id, { domain })
    expect(await add('BÜCHER.example')).toMatchObject({ domain: 'xn--bcher-kva.example' })
    await expect(add('xn--bcher-kva.example')).rejects.toThrow(/OrganizationDomain_domain_key|Unique/)
    // With a Cyrillic a, it is another domain, which looks like one that is proven.
    expect(await add('аcme.example')).toMatchObject({ domain: 'xn--cme-5cd.example' })
    for (const host of ['gmail.com', 'GMX.de', 'web.de', 'googlemail.com'])
      await expect(add(host)).rejects.toMatchObject({
        fields: [{ field: 'domain', description: 'belongs to a public mail host' }],
      })
    for (const wrong of [
      'localhost',
      'a b.example',
      '[192.0.2.1]',
      '192.0.2.1',
      'ａｃｍｅ.example',
      'x.',
      `${'a.'.repeat(120)}example`,
    ])
      await expect(add(wrong)).rejects.toMatchObject({
        fields: expect.arrayContaining([expect.objectContaining({ field: 'domain' })]),
      })
  })
})

describe('joining by a domain', () => {
  test('makes users who prove an address of it members, once, while it is proven', async ({
    ctx,
    domain,
    published,
    send,
    redeem,
  }) => {
    const { id, organizationId, recordName } = await published('automatic')
    const signIn = async (name: string, at = domain) => {
      const to = `${name}@${at}`
      await dbFor(ctx.tenant).passcode.deleteMany({ where: { tenantId: ctx.tenant, address: to } })
      await send(to, { createUser: true })
      await redeem(to)
    }
    const listVias = async () =>
      (await listMembers(ctx, organizationId, {})).rows.map(({ joinedVia }) => joinedVia)
    await signIn('early')
    expect(await listVias()).toEqual([])
    await verifyOrganizationDomain(ctx, id)
    // An address that an administrator entered is not proven, nor is one of a subdomain.
    await createUser(ctx, { email: `entered@${domain}` })
    await signIn('foreign', `sub.${domain}`)
    await signIn('foreign', `x${domain}`)
    expect(await listVias()).toEqual([])
    await signIn('early')
    await signIn('early')
    await signIn('Late')
    expect(await listVias()).toEqual(['domain', 'domain'])
    await updateOrganizationDomain(ctx, id, { enrollment: 'none' })
    await signIn('third')
    await updateOrganizationDomain(ctx, id, { enrollment: 'automatic' })
    txtRecords.delete(recordName)
    await verifyOrganizationDomain(ctx, id)
    await signIn('fourth')
    await checkAt(ctx, Date.now() + 9 * DAY)
    await signIn('fifth')
    expect(await listVias()).toEqual(['domain', 'domain', 'domain'])
  })

  test('costs a tenant without such domains no statement', async ({
    ctx,
    address,
    published,
    send,
    redeem,
  }) => {
    const signIn = async () => {
      await dbFor(ctx.tenant).passcode.deleteMany({ where: { tenantId: ctx.tenant, address: address() } })
      await send(address(), { createUser: true })
      await redeem(address())
    }
    await signIn()
    const before = await leastStatements(signIn)
    const { id } = await published()
    await verifyOrganizationDomain(ctx, id)
    expect(await leastStatements(signIn)).toBe(before)
    await updateOrganizationDomain(ctx, id, { enrollment: 'automatic' })
    expect(await leastStatements(signIn)).toBe(before + 1)
  })
})
