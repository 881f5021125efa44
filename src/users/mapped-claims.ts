import {
  type ClaimMapping,
  type ClaimSource,
  type ClaimTarget,
  type MAPPED_ORGANIZATION_FIELDS,
  parsePointer,
  toConsentedClaim,
} from '../model/claim-mappings.ts'
import { getClaimName } from '../model/profile-fields.ts'
import { CLAIM_DEFINITIONS, type ClaimsUser } from './claims.ts'

/** A user as mappings read the user. What the mappings of the client do not name is not read, and null. */
export type MappedUser = ClaimsUser & {
  externalId: string | null
  userMetadata: unknown
  appMetadata: unknown
  /** The roles at APIs that the user holds, and the APIs at which each permits something. */
  appRoles: { name: string; apis: string[] }[] | null
  groups: { name: string; isOfOrganization: boolean }[] | null
  /** The organization of the token. */
  organization: Record<(typeof MAPPED_ORGANIZATION_FIELDS)[number] | 'metadata', unknown> | null
  /** The claims that the user agreed to share with the client besides those of scopes; null without a consent. */
  consentedClaims: string[] | null
}

/** Mappings, and whether the client gets nothing without the consent of the user. */
export type MappingTerms = { mappings: readonly ClaimMapping[]; requireConsent: boolean }

/**
 * The bytes that mapped claims may take, as JSON. Servers reject requests whose headers, with a token among them, exceed 8 KB;
 * a userinfo response is sent as a body.
 */
const MAX_BYTES: Record<ClaimTarget, number> = { id_token: 4096, access_token: 4096, userinfo: 16_384 }

/** Mapped claims, and the names of those that are left out because the token would be too large. */
export type MappedClaims = { claims: Record<string, unknown>; omitted: string[] }
const NONE: MappedClaims = Object.freeze({ claims: {}, omitted: [] })

/** The member of an object that a path leads to; undefined without one. Members of prototypes are none. */
const readMember = (document: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (value, name) =>
      typeof value === 'object' && value !== null && !Array.isArray(value) && Object.hasOwn(value, name)
        ? (value as Record<string, unknown>)[name]
        : undefined,
    document,
  )

const readField = (user: MappedUser, field: string): unknown =>
  field === 'id' || field === 'externalId'
    ? user[field]
    : CLAIM_DEFINITIONS[getClaimName(field as never)]?.resolve(user)

const READERS: Record<ClaimSource, (user: MappedUser, mapping: ClaimMapping) => unknown> = {
  user: (user, { path }) => readField(user, path as string),
  userMetadata: (user, { path }) => readMember(user.userMetadata, parsePointer(path as string)),
  appMetadata: (user, { path }) => readMember(user.appMetadata, parsePointer(path as string)),
  roles: ({ appRoles }, { path }) =>
    appRoles?.filter(({ apis }) => path === null || apis.includes(path)).map(({ name }) => name),
  groups: ({ groups }, { path }) =>
    groups?.filter(({ isOfOrganization }) => isOfOrganization === (path !== null)).map(({ name }) => name),
  organization: ({ organization }, { path }) =>
    path?.startsWith('/')
      ? readMember(organization?.metadata, parsePointer(path))
      : organization?.[path as (typeof MAPPED_ORGANIZATION_FIELDS)[number]],
  constant: (_user, { value }) => value,
}

/** Whether a scope contains the claim with this source, so that the consent to the scope covers it. */
const isCovered = ({ claim, source, path }: ClaimMapping, scopes: readonly string[]): boolean =>
  source === 'user' &&
  getClaimName(path as never) === claim &&
  Object.hasOwn(CLAIM_DEFINITIONS, claim) &&
  scopes.includes(CLAIM_DEFINITIONS[claim]?.scope ?? '')

export const isGranted = ({ scope }: ClaimMapping, scopes: readonly string[]): boolean =>
  scope === null || scopes.includes(scope)

/** The claims about the user that come out with these scopes and that none of them contains, each once, as consents have them. */
export const listMappedClaims = (mappings: readonly ClaimMapping[], scopes: readonly string[]): string[] => [
  ...new Set(
    mappings
      .filter(
        (mapping) =>
          mapping.source !== 'constant' && isGranted(mapping, scopes) && !isCovered(mapping, scopes),
      )
      .map(toConsentedClaim),
  ),
]

/**
 * The mapped claims of a token or response. `user` is null for a token of the client itself, which has constants only. A
 * client that asks for consent gets no claim that was mapped since: the user was not asked. Claims without a value are
 * omitted, as are those that do not fit, in their order.
 */
export function buildMappedClaims(
  { mappings, requireConsent }: MappingTerms,
  user: MappedUser | null,
  scopes: readonly string[],
  target: ClaimTarget,
): MappedClaims {
  if (mappings.length === 0) return NONE
  const unasked = new Set(
    requireConsent
      ? listMappedClaims(mappings, scopes).filter((claim) => !user?.consentedClaims?.includes(claim))
      : [],
  )
  const claims: Record<string, unknown> = {}
  const omitted: string[] = []
  let bytes = 0
  for (const mapping of mappings) {
    const { claim, source, targets } = mapping
    if (!targets.includes(target) || !isGranted(mapping, scopes)) continue
    if (source !== 'constant' && (user === null || unasked.has(toConsentedClaim(mapping)))) continue
    const value = READERS[source](user as MappedUser, mapping) ?? null
    if (value === null) continue
    const size = Buffer.byteLength(JSON.stringify({ [claim]: value }))
    if (bytes + size > MAX_BYTES[target]) omitted.push(claim)
    else {
      bytes += size
      claims[claim] = value
    }
  }
  return { claims, omitted }
}
