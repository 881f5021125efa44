import { getAdministeredId } from '../context/administered-organization.ts'
import type { Ctx } from '../context/context.ts'
import { Forbidden } from '../core/errors.ts'
import { isJsonObject } from '../core/json/json-object.ts'
import type { Scope } from '../core/scopes.ts'
import type { Db } from '../database/handle.ts'
import type { Target } from './targets.ts'

type Owned = { organizationId: string | null } | null
type FindOwned = (db: Db, where: { tenantId_id: { tenantId: string; id: string } }) => Promise<Owned>
const select = { organizationId: true } as const

/** Reads the organization that an object belongs to, and always will; of a provider, its services look again. */
const OWNED: Partial<Record<Target, FindOwned>> = {
  organizationId: async (_db, { tenantId_id: { id } }) => ({ organizationId: id }),
  membershipId: ({ prisma }, where) => prisma.membership.findUnique({ where, select }),
  invitationId: ({ prisma }, where) => prisma.invitation.findUnique({ where, select }),
  appRoleId: ({ prisma }, where) => prisma.appRole.findUnique({ where, select }),
  groupId: ({ prisma }, where) => prisma.group.findUnique({ where, select }),
  organizationDomainId: ({ prisma }, where) => prisma.organizationDomain.findUnique({ where, select }),
  idpId: ({ prisma }, where) => prisma.identityProvider.findUnique({ where, select }),
  webhookId: ({ prisma }, where) => prisma.webhook.findUnique({ where, select }),
  webhookDeliveryId: async ({ prisma }, where) =>
    (await prisma.webhookDelivery.findUnique({ where, select: { webhook: { select } } }))?.webhook ?? null,
  apiKeyId: ({ prisma }, where) => prisma.apiKey.findUnique({ where, select }),
}

/**
 * What an operation is about: the object with the id in `ids`, or, of an operation without such an object, what has the
 * `organizationId` among the members that are given.
 */
export type Subject = { ids: Record<string, string>; given: unknown }

async function findOrganizationId({ db, tenant }: Ctx, { ids, given }: Subject): Promise<string | null> {
  const [target] = Object.keys(OWNED).filter((name) => name in ids) as (keyof typeof OWNED)[]
  if (target !== undefined) {
    const where = { tenantId_id: { tenantId: tenant, id: ids[target] as string } }
    return (await OWNED[target]?.(db, where))?.organizationId ?? null
  }
  const named = isJsonObject(given) ? given.organizationId : null
  return typeof named === 'string' ? named : null
}

/**
 * Requires that an operation is about the organization that the caller administers, and is given nothing but `members`. At
 * most one statement. Throws Forbidden, in the same words for another organization and for an object that does not exist.
 */
export async function requireInOrganization(
  ctx: Ctx,
  { scope, members }: { scope: Scope; members: readonly string[] | true },
  subject: Subject,
): Promise<void> {
  const administeredId = getAdministeredId(ctx)
  if (administeredId === null || (await findOrganizationId(ctx, subject)) !== administeredId)
    throw new Forbidden(
      `This needs the scope ${scope}: it is not about the organization of the token.`,
      scope,
    )
  const given = isJsonObject(subject.given) ? Object.entries(subject.given) : []
  const others = given
    .filter(([name, value]) => value !== undefined && (name !== 'organizationId' || value !== administeredId))
    .map(([name]) => name)
    .filter((name) => members !== true && !members.includes(name) && !(name in subject.ids))
  if (others.length > 0)
    throw new Forbidden(`This needs the scope ${scope}, because the input has: ${others.join(', ')}.`, scope)
}
