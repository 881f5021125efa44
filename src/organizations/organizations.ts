import { isDeepStrictEqual } from 'node:util'
import type { Ctx } from '../context/context.ts'
import { newId, readIdPrefix } from '../core/crypto.ts'
import { NotFound } from '../core/errors.ts'
import { listInOrder } from '../database/page-query.ts'
import { createEvent } from '../events/create-event.ts'
import { recordEvents } from '../events/log.ts'
import type { Organization, Prisma } from '../generated/prisma/client.ts'
import { assertExpectedUpdatedAt, moveForward } from '../schema/expected-updated-at.ts'
import { parseInput } from '../schema/input-shapes.ts'
import type { Page, PageArgs } from '../schema/page.ts'
import {
  createOrganizationPatch,
  ORGANIZATION_FIELD_NAMES,
  OrganizationCreate,
  SlugLookup,
} from './organizations.fields.ts'
import { deleteMemberships, lockOrganization } from './organizations.sql.ts'

/** Creates an organization. Throws InvalidInput, and Conflict (the slug or the externalId is taken). */
export async function createOrganization(ctx: Ctx, input: unknown): Promise<Organization> {
  const fields = parseInput(OrganizationCreate, input)
  const id = newId('organization')
  return ctx.db.transaction(async (tx) => {
    const created = await tx.prisma.organization.create({
      data: { ...fields, tenantId: ctx.tenant, id } as Prisma.OrganizationUncheckedCreateInput,
    })
    await recordEvents(tx, ctx, [createEvent('organization.created', { organizationId: id })])
    return created
  })
}

/** Throws NotFound for text that is not the id of an organization, without a look into the database. */
export function requireOrganizationId(id: string): void {
  if (readIdPrefix(id) !== 'organization') throw new NotFound('organization')
}

/** Returns an organization. Throws NotFound, also for an organization of another tenant. */
export async function getOrganization(ctx: Ctx, id: string): Promise<Organization> {
  requireOrganizationId(id)
  const where = { tenantId_id: { tenantId: ctx.tenant, id } }
  const organization = await ctx.db.prisma.organization.findUnique({ where })
  if (!organization) throw new NotFound('organization')
  return organization
}

/** Returns the organization with a slug. Throws InvalidInput and NotFound. */
export async function getOrganizationBySlug(ctx: Ctx, given: unknown): Promise<Organization> {
  const { slug } = parseInput(SlugLookup, { slug: given })
  const where = { tenantId_slug: { tenantId: ctx.tenant, slug } }
  const organization = await ctx.db.prisma.organization.findUnique({ where })
  if (!organization) throw new NotFound('organization')
  return organization
}

/** What cursors of the list of organizations are bound to. */
export const toOrganizationListName = (tenant: string): string => `${tenant}:organizations`

/** Lists the organizations, oldest first: one statement, and one more for totalSize. Throws InvalidInput. */
export function listOrganizations(ctx: Ctx, args: PageArgs): Promise<Page<Organization>> {
  const { tenant: tenantId } = ctx
  const { organization } = ctx.db.prisma
  return listInOrder(ctx, args, {
    name: toOrganizationListName(ctx.tenant),
    column: 'id',
    read: (page) => organization.findMany({ ...page, where: { tenantId, ...page.where } }),
    countAll: () => organization.count({ where: { tenantId } }),
  })
}

/**
 * Changes an organization: omitted fields are unchanged, null and, for text, '' unset. A change that changes nothing
 * leaves updatedAt and the log alone. Throws NotFound, InvalidInput, and Conflict (`expectedUpdatedAt`, or the slug or the
 * externalId is taken).
 */
export async function updateOrganization(ctx: Ctx, id: string, input: unknown): Promise<Organization> {
  requireOrganizationId(id)
  return ctx.db.transaction(async (tx) => {
    const current = await lockOrganization(tx, id)
    if (!current) throw new NotFound('organization')
    assertExpectedUpdatedAt(input, current.updatedAt)
    const patch = parseInput(createOrganizationPatch(current), input)
    const changedFields = ORGANIZATION_FIELD_NAMES.filter(
      (name) => patch[name] !== undefined && !isDeepStrictEqual(patch[name], current[name]),
    )
    if (changedFields.length === 0) return current
    await recordEvents(tx, ctx, [createEvent('organization.updated', { organizationId: id, changedFields })])
    return tx.prisma.organization.update({
      where: { tenantId_id: { tenantId: ctx.tenant, id } },
      data: {
        ...Object.fromEntries(changedFields.map((name) => [name, patch[name]])),
        updatedAt: moveForward(current.updatedAt),
      },
    })
  })
}

/**
 * Deletes an organization, and with it its memberships, in one transaction. The log has one entry, with the number of
 * members. Throws NotFound.
 */
export async function deleteOrganization(ctx: Ctx, id: string): Promise<{ deletedOrganizationId: string }> {
  requireOrganizationId(id)
  await ctx.db.transaction(async (tx) => {
    if (!(await lockOrganization(tx, id))) throw new NotFound('organization')
    const members = await deleteMemberships(tx, id)
    await tx.prisma.organization.delete({ where: { tenantId_id: { tenantId: ctx.tenant, id } } })
    await recordEvents(tx, ctx, [createEvent('organization.deleted', { organizationId: id }, { members })])
  })
  return { deletedOrganizationId: id }
}
