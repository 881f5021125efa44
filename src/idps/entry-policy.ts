import type { IdentityProvider } from '../generated/prisma/client.ts'
import { getClaimName, PROFILE_FIELD_NAMES } from '../model/profile-fields.ts'
import { toEmailKey } from '../schema/address-keys.ts'
import type { UserColumns } from '../users/user-body.ts'
import { toUserColumns } from '../users/user-body.ts'
import { USER_FIELD_DEFINITIONS, type WritableUser } from '../users/users.fields.ts'
import { type Claims, readVerification } from './answers/claims.ts'

/**
 * The address that a provider has verified; null without one, and for a provider whose addresses are not
 * trusted. The addresses of a trusted provider that does not speak of their verification count as verified.
 */
export function findVerifiedEmail({ trustEmail }: IdentityProvider, claims: Claims): string | null {
  if (!trustEmail || readVerification(claims) === false) return null
  // An address that a provider asserts is taken as it is: another spelling may be the address of another person.
  return typeof claims.email === 'string' && toEmailKey(claims.email) !== null ? claims.email : null
}

/** Whether a user that is not known may enter by a provider. */
export function mayEnter(row: IdentityProvider, claims: Claims): boolean {
  if (row.entry === 'anyone') return true
  const email = row.entry === 'domains' ? findVerifiedEmail(row, claims) : null
  return email !== null && row.domains.some((domain) => toEmailKey(email)?.endsWith(`@${domain}`))
}

/** The claim that is copied to each field unless the provider names others. */
const STANDARD_CLAIMS: Record<string, string> = Object.fromEntries(
  PROFILE_FIELD_NAMES.map((field) => [field, getClaimName(field)]),
)

const getClaimNames = (row: IdentityProvider): Record<string, string> =>
  (row.claims as Record<string, string> | null) ?? STANDARD_CLAIMS

/** The names of the claims that are copied to a user. */
export const listCopiedClaims = (row: IdentityProvider): string[] => Object.values(getClaimNames(row))

/** The fields that are copied from claims. A value that a user cannot have is left out. */
function selectCopied(row: IdentityProvider, claims: Claims): WritableUser {
  const names = getClaimNames(row)
  const entries = PROFILE_FIELD_NAMES.map((field) => {
    const name = names[field]
    const value = name === undefined ? undefined : claims[name]
    return [field, USER_FIELD_DEFINITIONS[field].creation.safeParse(value).data ?? undefined] as const
  })
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined && value !== ''))
}

/** The columns of a user that are copied at each sign-in; none where they are copied once. */
export const toRepeatedColumns = (row: IdentityProvider, claims: Claims): UserColumns =>
  row.copyClaims === 'always' ? toUserColumns(selectCopied(row, claims)) : {}

/** The columns of a new user. An address that is not verified is left out: anyone could claim it. */
export function toNewUserColumns(row: IdentityProvider, claims: Claims): UserColumns {
  const email = findVerifiedEmail(row, claims)
  return toUserColumns({ ...selectCopied(row, claims), ...(email && { email, emailVerified: true }) })
}
