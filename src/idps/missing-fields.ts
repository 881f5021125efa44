import type { IdentityProvider } from '../generated/prisma/client.ts'
import { type IdpType, PROVIDER_TYPES, REQUIRABLE_FIELDS, type RequirableField } from './provider-types.ts'

/**
 * The fields that a provider still needs, in the order of the API. It is stored without them, but proves
 * nothing until it has them.
 */
export function listMissingFields(
  row: Pick<IdentityProvider, RequirableField | 'type'> &
    ({ clientSecret: string | null } | { hasClientSecret: boolean }),
): RequirableField[] {
  const { requires = [], requiresWithSecret = [] } = PROVIDER_TYPES[row.type as IdpType]
  const hasSecret = 'clientSecret' in row ? row.clientSecret : row.hasClientSecret
  const required = ['clientId', ...requires, ...(hasSecret ? requiresWithSecret : [])]
  return REQUIRABLE_FIELDS.filter((field) => required.includes(field) && !row[field])
}
