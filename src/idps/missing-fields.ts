import type { IdentityProvider } from '../generated/prisma/client.ts'
import {
  type IdpType,
  PROVIDER_TYPES,
  REQUIRABLE_FIELD,
  type RequirableField,
} from './provider/provider-types.ts'

/**
 * The fields that a provider still needs, in the order of the API; `clientSecret` is one that cannot be used, or has
 * expired. It is stored without them, but proves nothing until it has them.
 */
export function listMissingFields(
  row: Pick<IdentityProvider, Exclude<RequirableField, 'clientSecret'> | 'type'> & {
    /** As `findSecretExpiry`; text in a cached tenant. */
    clientSecretExpiresAt: Date | string | null
  } & ({ clientSecret: string | null } | { hasClientSecret: boolean }),
): RequirableField[] {
  const now = new Date()
  const { requires = [], requiresWithSecret = [] } = PROVIDER_TYPES[row.type as IdpType]
  const hasSecret = 'clientSecret' in row ? row.clientSecret : row.hasClientSecret
  const expiry = row.clientSecretExpiresAt ? new Date(row.clientSecretExpiresAt) : null
  const required = ['clientId', ...requires, ...(hasSecret && !expiry ? requiresWithSecret : [])]
  return REQUIRABLE_FIELD.values.filter((field) =>
    field === 'clientSecret' ? expiry && expiry <= now : required.includes(field) && !row[field],
  )
}
