import type { TenantIdp } from '../access/tenant.sql.ts'
import type { Db } from '../database/handle.ts'
import type { IdentityProvider } from '../generated/prisma/client.ts'
import { isIdpId } from '../schema/idp-id.ts'
import { selectIdpOfDomain } from './idps.sql.ts'
import { listMissingFields } from './missing-fields.ts'
import { type IdpType, PROVIDER_TYPES } from './provider/provider-types.ts'

/** An identity provider as the sign-in pages know it. */
export type SignInProvider = TenantIdp

/** Whether an endpoint is configured, known of the type, or found through the issuer. */
const hasEndpoint = (idp: SignInProvider, name: 'authorizationEndpoint' | 'tokenEndpoint'): boolean => {
  const type = PROVIDER_TYPES[idp.type as IdpType]
  return Boolean(idp[name] || type[name] || (type.discovers && idp.issuer))
}

const canRedeem = ({ type, hasClientSecret }: SignInProvider): boolean =>
  hasClientSecret || !PROVIDER_TYPES[type as IdpType].redeemsWithSecret

/** Whether users can sign in there: nothing is missing. */
const isUsable = (idp: SignInProvider): boolean =>
  listMissingFields(idp).length === 0 &&
  canRedeem(idp) &&
  hasEndpoint(idp, 'authorizationEndpoint') &&
  hasEndpoint(idp, 'tokenEndpoint')

/** The identity providers of a tenant at which users can sign in: nothing is missing. No statement. */
export const listSignInProviders = ({ idps }: { idps: readonly SignInProvider[] }): SignInProvider[] =>
  idps.filter(isUsable)

/**
 * The provider of the organization that has proven the domain of an address; null without one. One statement for tenants
 * whose organizations have providers.
 */
export async function findProviderOfDomain(
  db: Db,
  { hasOrganizationIdps }: { hasOrganizationIdps: boolean },
  domain: string,
): Promise<SignInProvider | null> {
  const idp = hasOrganizationIdps ? await selectIdpOfDomain(db, domain) : null
  return idp && isUsable(idp) ? idp : null
}

/** The row of a provider, with sealed secrets; null when there is none. One statement. */
export const findProviderRow = async (
  { prisma, tenant }: Db,
  idpId: string,
): Promise<IdentityProvider | null> =>
  isIdpId(idpId)
    ? prisma.identityProvider.findUnique({ where: { tenantId_id: { tenantId: tenant, id: idpId } } })
    : null
