import { buildCallbackUrl } from '../idps/callback-url.ts'
import { createIdentityProvider, updateIdentityProvider } from '../idps/idps.ts'
import { testIdentityProvider } from '../idps/provider-check.ts'
import type { SetupVisit } from './setup-links.ts'

/** The provider of the set-up: the first one of the organization that speaks OpenID Connect, or the one that it will create. */
export async function findSetupProvider({ ctx, organizationId }: SetupVisit) {
  const stored = await ctx.db.prisma.identityProvider.findFirst({
    where: { tenantId: ctx.tenant, organizationId, type: 'oidc' },
    orderBy: { id: 'asc' },
    select: { id: true, issuer: true, clientId: true },
  })
  // Nobody else takes the id, which is in the redirect URI.
  const id = stored?.id ?? `sso-${organizationId.slice('organization_'.length)}`
  return { id, stored, callbackUrl: buildCallbackUrl(ctx.tenant, id) }
}

/** Stores what the customer entered. An empty secret keeps the stored one. Throws InvalidInput and Forbidden. */
export async function saveSetupProvider(
  visit: SetupVisit,
  { issuer = '', clientId = '', clientSecret = '' }: Record<string, string>,
): Promise<void> {
  const { ctx, organizationId, name } = visit
  const { id, stored } = await findSetupProvider(visit)
  const fields = { issuer, clientId, ...(clientSecret !== '' && { clientSecret }) }
  if (stored) await updateIdentityProvider(ctx, id, fields)
  else
    await createIdentityProvider(ctx, {
      ...fields,
      id,
      type: 'oidc',
      name,
      organizationId,
      // Its addresses are of the domains that the organization has proven.
      entry: 'anyone',
      trustEmail: true,
    })
}

/** What a test of the stored provider found wrong; null before there is one. */
export async function testSetupProvider(visit: SetupVisit): Promise<string[] | null> {
  const { id, stored } = await findSetupProvider(visit)
  if (!stored) return null
  const { findings } = await testIdentityProvider(visit.ctx, id)
  return findings.flatMap(({ status, description }) => (status === 'failed' ? [description] : []))
}
