import { isDeepStrictEqual } from 'node:util'
import { requireScope } from '../access/require-scope.ts'
import { invalidateTenant } from '../access/tenant-cache.ts'
import { isAdministered } from '../context/administered-organization.ts'
import type { Ctx } from '../context/context.ts'
import { newId, readIdPrefix, sha256Base64url } from '../core/crypto.ts'
import { Forbidden, InvalidInput, NotFound } from '../core/errors.ts'
import { toCursorKey } from '../database/keyset.ts'
import { createEvent } from '../events/create-event.ts'
import { recordEvents } from '../events/log.ts'
import type { Organization, Prisma } from '../generated/prisma/client.ts'
import { listWeakened, type OrganizationPolicy } from '../model/organization-policy.ts'
import { assertExpectedUpdatedAt, moveForward } from '../schema/expected-updated-at.ts'
import { parseInput } from '../schema/input-shapes.ts'
import { type ListArgs, type Page, parseListArgs, parsePaging, toPage } from '../schema/page.ts'
import {
  countOrganizations,
  type ListedOrganization,
  selectOrganizationPage,
} from './organization-list.sql.ts'
import {
  createOrganizationPatch,
  ORGANIZATION_FIELD_NAMES,
  ORGANIZATION_FILTER,
  ORGANIZATION_ORDER,
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

/**
 * Lists the organizations: by default oldest first, those of a search by the matched word. One statement, and one more for
 * totalSize. Throws InvalidInput.
 */
export async function listOrganizations(ctx: Ctx, args: ListArgs): Promise<Page<Organization>> {
  const { filter, orderBy, descending } = parseListArgs(args, ORGANIZATION_FILTER, ORGANIZATION_ORDER)
  if (filter.search !== undefined && (orderBy !== null || descending))
    throw new InvalidInput([
      {
        field: orderBy === null ? 'direction' : 'orderBy',
        description: 'cannot be combined with search; it has an order of its own',
      },
    ])
  const queryKey = JSON.stringify([filter, orderBy, descending])
  const name = `${toOrganizationListName(ctx.tenant)}${queryKey === PLAIN_QUERY ? '' : `:${sha256Base64url(queryKey)}`}`
  const paging = parsePaging(ctx, args, name)
  const rows = await selectOrganizationPage(ctx.db, { filter, order: orderBy, descending }, paging)
  return toPage<Organization>(paging, rows, {
    name,
    toKey: (row) => toCursorKey(row as ListedOrganization),
    countAll: () => countOrganizations(ctx.db, filter),
  })
}
const PLAIN_QUERY = JSON.stringify([{}, null, false])

/**
 * Changes an organization: omitted fields are unchanged, null and, for text, '' unset. A change that changes nothing
 * leaves updatedAt and the log alone. An administrator of the organization alone does not weaken what it demands of sign-ins.
 * Throws Forbidden, NotFound, InvalidInput, and Conflict (`expectedUpdatedAt`, or the slug or the
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
    const changes = Object.fromEntries(changedFields.map((name) => [name, patch[name]]))
    requireStricterPolicy(ctx, current, { ...current, ...changes })
    await recordEvents(tx, ctx, [createEvent('organization.updated', { organizationId: id, changedFields })])
    return tx.prisma.organization.update({
      where: { tenantId_id: { tenantId: ctx.tenant, id } },
      data: { ...changes, updatedAt: moveForward(current.updatedAt) },
    })
  })
}

/** Throws Forbidden when an administrator of the organization, without the scope, weakens its policy. */
function requireStricterPolicy(ctx: Ctx, current: Organization, next: Organization): void {
  if (ctx.scopes.has('organizations:write') || !isAdministered(ctx, current.id)) return
  const weakened = listWeakened(current as OrganizationPolicy, next as OrganizationPolicy)
  if (weakened.length === 0) return
  throw new Forbidden(
    `This needs the scope organizations:write, because it demands less: ${weakened.join(', ')}.`,
    'organizations:write',
  )
}

/**
 * Deletes an organization, and with it its memberships and identity providers, in one transaction, which the log has each.
 * Throws NotFound, and Forbidden without `idps:write` if it has providers.
 */
export async function deleteOrganization(ctx: Ctx, id: string): Promise<{ deletedOrganizationId: string }> {
  requireOrganizationId(id)
  await ctx.db.transaction(async (tx) => {
    if (!(await lockOrganization(tx, id))) throw new NotFound('organization')
    const ofOrganization = { tenantId: ctx.tenant, organizationId: id }
    const idps = await tx.prisma.identityProvider.findMany({
      where: ofOrganization,
      select: { id: true, _count: { select: { idpUsers: true } } },
    })
    if (idps.length > 0) {
      requireScope(ctx, 'idps:write')
      invalidateTenant(tx)
    }
    let members = 0
    for await (const batch of deleteMemberships(tx, id)) {
      members += batch.length
      await recordEvents(
        tx,
        ctx,
        batch.map((membership) =>
          createEvent('membership.deleted', {
            userId: membership.userId,
            organizationId: id,
            membershipId: membership.id,
          }),
        ),
      )
    }
    await tx.prisma.organization.delete({ where: { tenantId_id: { tenantId: ctx.tenant, id } } })
    await recordEvents(tx, ctx, [
      ...idps.map((idp) =>
        createEvent('idp.deleted', { idpId: idp.id, organizationId: id }, { links: idp._count.idpUsers }),
      ),
      createEvent('organization.deleted', { organizationId: id }, { members }),
    ])
  })
  return { deletedOrganizationId: id }
}
