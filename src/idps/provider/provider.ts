import type { IdentityProvider } from '../../generated/prisma/client.ts'
import { type IdpType, PROVIDER_TYPES, type ProviderType } from './provider-types.ts'

/** An upstream provider as proofs are verified with it: its row, with secrets readable, and its type. */
export type Provider = {
  row: IdentityProvider
  type: ProviderType
  /**
   * Its one issuer; '' for a provider without one. Null where the issuer depends on the user's organization.
   */
  issuer: string | null
  /**
   * Whether it is the issuer that its type names, so that the endpoints and aliases of the type are its own.
   */
  hasIssuerOfType: boolean
  /** Whether the claims `iss` and `tid` name this provider. */
  isIssuer: (claims: { iss?: string; tid?: unknown }) => boolean
}

const ORGANIZATION = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Converts a row whose secrets were opened. */
export function toProvider(row: IdentityProvider): Provider {
  const type = PROVIDER_TYPES[row.type as IdpType]
  const { issuerOfOrganisation } = type
  const issuer = row.issuer ?? type.issuer ?? (issuerOfOrganisation ? null : '')
  const hasIssuerOfType = !row.issuer || row.issuer === type.issuer
  return {
    row,
    type,
    issuer,
    hasIssuerOfType,
    isIssuer: ({ iss, tid }) => {
      if (!iss) return false
      if (issuer === null)
        return typeof tid === 'string' && ORGANIZATION.test(tid) && issuerOfOrganisation?.(tid) === iss
      return iss === issuer || (hasIssuerOfType && (type.issuerAliases?.includes(iss) ?? false))
    },
  }
}
