import { requireScope } from '../access/require-scope.ts'
import type { Ctx } from '../context/context.ts'
import { consumeLimit } from '../coordination/rate-limits.ts'
import { randomToken, sha256 } from '../core/crypto.ts'
import { env } from '../core/env.ts'
import { NotFound } from '../core/errors.ts'
import { addSeconds } from '../core/time.ts'
import { createEvent } from '../events/create-event.ts'
import { recordEvents } from '../events/log.ts'
import { lockOrganization } from '../organizations/organizations.sql.ts'
import { requireOrganizationId } from '../organizations/organizations.ts'
import { parseInput } from '../schema/input-shapes.ts'
import { SetupLinkCreate } from './setup-links.fields.ts'

/** How long a link waits to be opened, and how long the visit is that it opens. */
const LINK_SECONDS = 5 * 60
export const VISIT_SECONDS = 3600

/** The `clientId` of the actor in events of the set-up. */
const SETUP_ID = 'organization-setup'

/**
 * Creates the link with which somebody without an account sets up an organization; the former link and its visit end. The link is
 * not stored. Throws InvalidInput, NotFound, and Forbidden without `idps:write`, which the link gives for the provider of the organization.
 */
export async function createSetupLink(
  ctx: Ctx,
  organizationId: string,
  input: unknown = {},
): Promise<{ uri: string; expiresAt: Date }> {
  requireOrganizationId(organizationId)
  parseInput(SetupLinkCreate, input)
  requireScope(ctx, 'idps:write')
  const token = randomToken()
  const expiresAt = addSeconds(new Date(), LINK_SECONDS)
  const key = { tenantId: ctx.tenant, organizationId }
  await ctx.db.transaction(async (tx) => {
    if (!(await lockOrganization(tx, organizationId))) throw new NotFound('organization')
    await tx.prisma.organizationSetup.deleteMany({ where: key })
    await tx.prisma.organizationSetup.create({
      data: { ...key, tokenHash: sha256(token), expiresAt },
    })
    await recordEvents(tx, ctx, [createEvent('organization.setup_created', { organizationId })])
  })
  return { uri: `${env.baseUrl}/${ctx.tenant}/organization-setup?token=${token}`, expiresAt }
}

/** Ends the link of an organization, and the visit that it opened. Throws NotFound without one. */
export async function revokeSetupLink(ctx: Ctx, organizationId: string): Promise<{ organizationId: string }> {
  await ctx.db.transaction(async (tx) => {
    const where = { tenantId: ctx.tenant, organizationId, expiresAt: { gt: new Date() } }
    const { count } = await tx.prisma.organizationSetup.deleteMany({ where })
    if (count === 0) throw new NotFound('set-up link')
    await recordEvents(tx, ctx, [createEvent('organization.setup_revoked', { organizationId })])
  })
  return { organizationId }
}

/** Whether a link can be opened. Counts in the limit of the network. */
export async function isSetupLink(ctx: Ctx, token: string): Promise<boolean> {
  await consumeLimit('useSetupLink', ctx.tenant, ctx.ip)
  const where = {
    tenantId: ctx.tenant,
    tokenHash: sha256(token),
    openedAt: null,
    expiresAt: { gt: new Date() },
  }
  return (await ctx.db.prisma.organizationSetup.count({ where })) > 0
}

/** Opens a link, once: returns the token of the visit, whose hash takes the place of the link's. Null for a link that does not work. */
export async function openSetupLink(ctx: Ctx, token: string): Promise<string | null> {
  await consumeLimit('useSetupLink', ctx.tenant, ctx.ip)
  const now = new Date()
  const visitToken = randomToken()
  return ctx.db.transaction(async (tx) => {
    const [opened] = await tx.prisma.organizationSetup.updateManyAndReturn({
      where: { tenantId: ctx.tenant, tokenHash: sha256(token), openedAt: null, expiresAt: { gt: now } },
      data: { tokenHash: sha256(visitToken), openedAt: now, expiresAt: addSeconds(now, VISIT_SECONDS) },
    })
    if (!opened) return null
    const { organizationId } = opened
    await recordEvents(tx, toSetupCtx(ctx), [createEvent('organization.setup_opened', { organizationId })])
    return visitToken
  })
}

/** The set-up of one organization by somebody without an account. `ctx` has the scopes that its services need. */
export type SetupVisit = { ctx: Ctx; organizationId: string; name: string }

const toSetupCtx = (ctx: Ctx): Ctx => ({
  ...ctx,
  actor: { kind: 'client', tenant: ctx.tenant, clientId: SETUP_ID },
  scopes: new Set(['organizations:write', 'idps:write']),
})

/** The visit of a token; null when it has ended. */
export async function findSetupVisit(ctx: Ctx, token: string): Promise<SetupVisit | null> {
  const found = await ctx.db.prisma.organizationSetup.findFirst({
    where: {
      tenantId: ctx.tenant,
      tokenHash: sha256(token),
      openedAt: { not: null },
      expiresAt: { gt: new Date() },
    },
    select: { organizationId: true, organization: { select: { name: true } } },
  })
  return (
    found && {
      ctx: toSetupCtx(ctx),
      organizationId: found.organizationId,
      name: found.organization.name,
    }
  )
}
