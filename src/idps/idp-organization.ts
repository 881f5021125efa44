import { requireScope } from '../access/require-scope.ts'
import type { Ctx } from '../context/context.ts'
import { InvalidInput } from '../core/errors.ts'
import type { Db, Tx } from '../database/handle.ts'
import type { IdentityProvider } from '../generated/prisma/client.ts'
import { shareOrganization } from '../organizations/organizations.sql.ts'
import { toEmailKey } from '../schema/address-keys.ts'
import type { Claims } from './answers/claims.ts'

/**
 * Requires the right to let a provider make members of an organization, which is kept from being deleted. Throws Forbidden
 * and InvalidInput.
 */
export async function requireOrganization(
  tx: Tx,
  ctx: Ctx,
  organizationId: string | null | undefined,
): Promise<void> {
  if (!organizationId) return
  requireScope(ctx, 'organizations:write')
  if (!(await shareOrganization(tx, organizationId)))
    throw new InvalidInput([
      { field: 'organizationId', description: 'is not an organization of this tenant' },
    ])
}

/**
 * Whether the address that a provider asserts, verified or not, is of a domain that its organization has proven; also
 * without an address, and for a provider of the tenant. One statement for the provider of an organization.
 */
export async function isOwnAddress(
  { prisma, tenant: tenantId }: Db,
  { organizationId }: IdentityProvider,
  { email }: Claims,
): Promise<boolean> {
  if (organizationId === null || email === undefined || email === null) return true
  const domain = typeof email === 'string' ? toEmailKey(email)?.split('@').pop() : undefined
  if (domain === undefined) return false
  const proven = { tenantId, organizationId, domain, verifiedAt: { not: null } }
  return (await prisma.organizationDomain.count({ where: proven })) > 0
}
