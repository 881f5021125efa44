import { invalidateTenant } from '../access/tenant-cache.ts'
import type { Ctx } from '../context/context.ts'
import { RATE_LIMITS, takeFromLimit } from '../coordination/rate-limits.ts'
import { newId, randomToken, readIdPrefix } from '../core/crypto.ts'
import { Conflict, InvalidInput, NotFound } from '../core/errors.ts'
import type { Db } from '../database/handle.ts'
import { listInOrder } from '../database/page-query.ts'
import { createEvent } from '../events/create-event.ts'
import { recordEvents } from '../events/log.ts'
import type { OrganizationDomain } from '../generated/prisma/client.ts'
import { moveForward } from '../schema/expected-updated-at.ts'
import { parseInput } from '../schema/input-shapes.ts'
import type { Page, PageArgs } from '../schema/page.ts'
import { checkDomain } from './domain-checks.ts'
import {
  OrganizationDomainCreate,
  OrganizationDomainPatch,
  OrganizationDomainVerification,
} from './organization-domains.fields.ts'
import { lockDomain } from './organization-domains.sql.ts'
import { lockOrganization } from './organizations.sql.ts'
import { requireOrganizationId } from './organizations.ts'

/** Domains of one organization. */
const MAX_DOMAINS = 50

/** Throws InvalidInput for the domain of a public mail host: its addresses belong to anybody. */
async function requirePrivateDomain(domain: string): Promise<void> {
  const { default: publicDomains } = await import('free-email-domains')
  if (publicDomains.includes(domain))
    throw new InvalidInput([{ field: 'domain', description: 'belongs to a public mail host' }])
}

const toAbout = ({ id, organizationId }: Pick<OrganizationDomain, 'id' | 'organizationId'>) => ({
  organizationId,
  organizationDomainId: id,
})

/**
 * Adds a domain to an organization, which is not proven yet. Throws InvalidInput, NotFound, and Conflict (the organization has
 * the domain, or too many).
 */
export async function createOrganizationDomain(
  ctx: Ctx,
  organizationId: string,
  input: unknown,
): Promise<OrganizationDomain> {
  requireOrganizationId(organizationId)
  const { domain, enrollment } = parseInput(OrganizationDomainCreate, input)
  await requirePrivateDomain(domain)
  return ctx.db.transaction(async (tx) => {
    if (!(await lockOrganization(tx, organizationId))) throw new NotFound('organization')
    const { organizationDomain } = tx.prisma
    if ((await organizationDomain.count({ where: { tenantId: ctx.tenant, organizationId } })) >= MAX_DOMAINS)
      throw new Conflict([], `There are ${MAX_DOMAINS} domains, which is the maximum: delete one.`)
    const created = await organizationDomain.create({
      data: {
        tenantId: ctx.tenant,
        id: newId('orgdomain'),
        organizationId,
        domain,
        enrollment,
        recordValue: randomToken(),
      },
    })
    await recordEvents(tx, ctx, [createEvent('organization_domain.created', toAbout(created), { domain })])
    return created
  })
}

/** The domains of the tenant with these ids, in any order. */
export const findOrganizationDomains = (
  { prisma, tenant }: Db,
  ids: string[],
): Promise<OrganizationDomain[]> =>
  prisma.organizationDomain.findMany({ where: { tenantId: tenant, id: { in: ids } } })

const requireDomainId = (id: string): void => {
  if (readIdPrefix(id) !== 'orgdomain') throw new NotFound('domain')
}

/** Returns a domain of an organization. Throws NotFound. */
export async function getOrganizationDomain(ctx: Ctx, id: string): Promise<OrganizationDomain> {
  requireDomainId(id)
  const [domain] = await findOrganizationDomains(ctx.db, [id])
  if (!domain) throw new NotFound('domain')
  return domain
}

/** The number of domains of an organization. */
export const countOrganizationDomains = (ctx: Ctx, organizationId: string): Promise<number> =>
  ctx.db.prisma.organizationDomain.count({ where: { tenantId: ctx.tenant, organizationId } })

/**
 * Lists the domains of an organization, oldest first: one statement, and one more for totalSize. Throws NotFound without the
 * organization, and InvalidInput about the paging.
 */
export const listOrganizationDomains = (
  ctx: Ctx,
  organizationId: string,
  args: PageArgs,
): Promise<Page<OrganizationDomain>> =>
  listInOrder(ctx, args, {
    name: `${ctx.tenant}:organization-domains:${organizationId}`,
    column: 'id',
    read: async (page) => {
      requireOrganizationId(organizationId)
      const organization = await ctx.db.prisma.organization.findUnique({
        where: { tenantId_id: { tenantId: ctx.tenant, id: organizationId } },
        select: { domains: page },
      })
      if (!organization) throw new NotFound('organization')
      return organization.domains
    },
    countAll: () => countOrganizationDomains(ctx, organizationId),
  })

/** Changes the enrollment of a domain. Throws InvalidInput and NotFound. */
export async function updateOrganizationDomain(
  ctx: Ctx,
  id: string,
  input: unknown,
): Promise<OrganizationDomain> {
  const { enrollment } = parseInput(OrganizationDomainPatch, input)
  requireDomainId(id)
  return ctx.db.transaction(async (tx) => {
    const current = await lockDomain(tx, id)
    if (!current) throw new NotFound('domain')
    if (enrollment === undefined || enrollment === current.enrollment) return current
    await recordEvents(tx, ctx, [
      createEvent(
        'organization_domain.updated',
        { ...toAbout(current), changedFields: ['enrollment'] },
        { domain: current.domain },
      ),
    ])
    invalidateTenant(tx)
    return tx.prisma.organizationDomain.update({
      where: { tenantId_id: { tenantId: ctx.tenant, id } },
      data: { enrollment, updatedAt: moveForward(current.updatedAt) },
    })
  })
}

/**
 * Looks up the TXT record of a domain: found, it proves the domain. A proven domain without its record expires later. Throws
 * InvalidInput, NotFound, Conflict when another organization has proven the domain, and RateLimited after 120 look-ups of the
 * organization in an hour.
 */
export async function verifyOrganizationDomain(
  ctx: Ctx,
  id: string,
  input: unknown = {},
): Promise<OrganizationDomain> {
  parseInput(OrganizationDomainVerification, input)
  const domain = await getOrganizationDomain(ctx, id)
  await takeFromLimit(
    'lookUpDomain',
    `${ctx.tenant}:${domain.organizationId}`,
    RATE_LIMITS.lookUpDomain.points,
  )
  return checkDomain(ctx, domain)
}

/** Deletes a domain. Those who have joined by it stay members. Throws NotFound. */
export async function deleteOrganizationDomain(
  ctx: Ctx,
  id: string,
): Promise<{ deletedOrganizationDomainId: string; organizationId: string }> {
  requireDomainId(id)
  return ctx.db.transaction(async (tx) => {
    const deleted = await tx.prisma.organizationDomain.delete({
      where: { tenantId_id: { tenantId: ctx.tenant, id } },
    })
    await recordEvents(tx, ctx, [
      createEvent('organization_domain.deleted', toAbout(deleted), { domain: deleted.domain }),
    ])
    invalidateTenant(tx)
    return { deletedOrganizationDomainId: id, organizationId: deleted.organizationId }
  })
}
