import * as z from 'zod'
import {
  ADDRESS_CLAIMS,
  AUTHORIZATION_CLAIMS,
  type ClaimMapping,
  type ClaimSource,
  isReservedClaim,
  MAPPED_ORGANIZATION_FIELDS,
  MAPPED_USER_FIELDS,
  parsePointer,
} from '../model/claim-mappings.ts'
import { defineEnum } from './enums.ts'
import { standardField } from './fields.ts'
import { optional, requiredText } from './input-shapes.ts'
import { createResourceUri } from './url-shapes.ts'

const MAX_MAPPINGS = 50
const MAX_PATH_DEPTH = 5

const SOURCE = defineEnum('ClaimSource', 'Where the value of a mapped claim comes from.', {
  user: 'A field of the user.',
  userMetadata: "A member of the user's own metadata, which the user may change.",
  appMetadata: "A member of the applications' metadata of the user.",
  roles: 'The names of the roles at APIs that the user holds, as a list.',
  groups: 'The names of the groups of the user, and of those around them, as a list.',
  organization: 'A field, or a member of the metadata, of the organization of the token.',
  constant: 'The same text for each user, and for the client itself.',
})
export const CLAIM_TARGET = defineEnum('ClaimTarget', 'What a mapped claim is part of.', {
  id_token: 'The ID token.',
  access_token: 'The access token.',
  userinfo: 'The userinfo response.',
})

const DESCRIPTION = 'A claim of the tokens of a client or for an API, or of userinfo responses.'
const sample: ClaimMapping = {
  claim: 'https://shop.example/plan',
  source: 'appMetadata',
  path: '/billing/plan',
  value: null,
  scope: 'billing',
  targets: ['id_token'],
}
const DESCRIPTIONS: Record<keyof ClaimMapping, string> = {
  claim: 'The name of the claim, or a URI. Claims of protocols, such as sub and aud, are rejected.',
  source: 'Where the value comes from.',
  path: 'The field of the user, such as email, or of the organization, such as slug; or the member of the metadata as a JSON Pointer (RFC 6901), such as /billing/plan. For roles the identifier of the API at which they permit something, null for all; for groups `organization`, null for those of the tenant. Null for a constant.',
  value: 'The text of a constant.',
  scope:
    'The scope with which the claim comes out; always when null. The client may request it from users. Required for appMetadata and metadata of organizations, and not openid.',
  targets: 'Where the claim comes out.',
}
const describe = <Shape extends z.ZodType>(name: keyof ClaimMapping, shape: Shape) =>
  shape.meta({ description: DESCRIPTIONS[name], example: sample[name] })
const orNull = <Shape extends z.ZodType<string>>(shape: Shape) =>
  optional(shape).transform((value) => value ?? null)

const claimName = requiredText(200).regex(
  /^[A-Za-z][!#-[\]-~]*$/,
  'must begin with a letter and have no spaces, quotation marks or backslashes',
)
/** A scope token (RFC 6749, appendix A.4). */
const scopeName = requiredText(100).regex(/^[!#-[\]-~]+$/, 'must be a scope token (RFC 6749, section 3.3)')

const FIELDS: Partial<Record<ClaimSource, readonly string[]>> = {
  user: MAPPED_USER_FIELDS,
  organization: MAPPED_ORGANIZATION_FIELDS,
}

/** Metadata that users do not see. */
const isSecret = ({ source, path }: ClaimMapping): boolean =>
  source === 'appMetadata' || (source === 'organization' && path?.startsWith('/') === true)

/** The issue of a path, or null. */
function findPathIssue({ source, path }: ClaimMapping): string | null {
  if (source === 'constant') return path === null ? null : 'must be null for a constant'
  if (source === 'groups')
    return path === null || path === 'organization' ? null : 'must be organization or null'
  if (source === 'roles')
    return path === null || createResourceUri().safeParse(path).success
      ? null
      : 'must be the identifier of an API'
  if (path === null) return 'is required'
  const fields = FIELDS[source]
  if (fields && !(source === 'organization' && path.startsWith('/')))
    return fields.includes(path) ? null : `must be one of: ${fields.join(', ')}`
  if (!/^(?:\/(?:[^~/]|~[01])+)+$/.test(path))
    return 'must be a JSON Pointer to a member (RFC 6901), such as /billing/plan'
  return parsePointer(path).length > MAX_PATH_DEPTH ? `must have at most ${MAX_PATH_DEPTH} names` : null
}

/** Why the claim cannot have this source, or null. */
function findClaimIssue({ claim, source, path }: ClaimMapping): string | null {
  if (isReservedClaim(claim)) return 'is set by the service alone'
  const field = ADDRESS_CLAIMS.get(claim)
  if (field && (source !== 'user' || path !== field)) return `must have the field ${field} of the user`
  if (AUTHORIZATION_CLAIMS.includes(claim) && (source === 'user' || source === 'userMetadata'))
    return 'gives rights, and users change their profile and metadata themselves'
  return null
}

/** The members that are wrong. */
function* listIssues(mapping: ClaimMapping): Generator<[keyof ClaimMapping, string | null]> {
  const { source, value, scope, targets } = mapping
  yield ['claim', findClaimIssue(mapping)]
  yield ['path', findPathIssue(mapping)]
  yield [
    'value',
    (source === 'constant') === (value !== null) ? null : 'must be given for a constant, and only for one',
  ]
  // Metadata that users do not see must be asked for, by a scope that not every sign-in has.
  yield [
    'scope',
    isSecret(mapping) && (scope ?? 'openid') === 'openid'
      ? 'is required for metadata that users do not see, and not openid'
      : null,
  ]
  yield ['targets', new Set(targets).size < targets.length ? 'must not have duplicates' : null]
}

const mapping = z
  .strictObject(
    {
      claim: describe('claim', claimName),
      source: describe('source', SOURCE.shape),
      path: describe('path', orNull(requiredText(200))),
      value: describe('value', orNull(requiredText(1000))),
      scope: describe('scope', orNull(scopeName)),
      targets: describe(
        'targets',
        z
          .array(CLAIM_TARGET.shape, 'must be an array')
          .min(1, 'must not be empty')
          .max(3, 'must have at most 3 entries'),
      ),
    },
    { error: (issue) => (issue.code === 'invalid_type' ? 'must be an object' : undefined) },
  )
  .superRefine((given, context) => {
    for (const [name, message] of listIssues(given))
      if (message) context.addIssue({ code: 'custom', path: [name], message })
  })
  .meta({ id: 'ClaimMappingInput', description: DESCRIPTION, example: sample })

const isSameClaim = (one: ClaimMapping, other: ClaimMapping): boolean =>
  one.claim === other.claim && one.targets.some((target) => other.targets.includes(target))

/** Why a claim cannot come out there, by its member, or null. */
type Rule = (mapping: ClaimMapping) => [member: keyof ClaimMapping, message: string] | null

const createMappingList = (findIssue: Rule) =>
  z
    .array(mapping, 'must be an array')
    .max(MAX_MAPPINGS, `must have at most ${MAX_MAPPINGS} entries`)
    .superRefine((mappings, context) => {
      for (const [index, given] of mappings.entries())
        if (mappings.slice(0, index).some((other) => isSameClaim(other, given)))
          context.addIssue({
            code: 'custom',
            path: [index, 'claim'],
            message: 'is given twice for one target',
          })
      for (const [index, given] of mappings.entries()) {
        const [member, message] = findIssue(given) ?? []
        if (member) context.addIssue({ code: 'custom', path: [index, member], message })
      }
    })

const answer = z.array(
  z
    .object({
      claim: describe('claim', z.string()),
      source: describe('source', SOURCE.shape),
      path: describe('path', z.string().nullable()),
      value: describe('value', z.string().nullable()),
      scope: describe('scope', z.string().nullable()),
      targets: describe('targets', z.array(CLAIM_TARGET.shape)),
    })
    .meta({ id: 'ClaimMapping', description: DESCRIPTION }),
)

/** The mappings of a client. Whoever may change it must not make its users administrators at the APIs of others. */
export const claimMappings = standardField(
  createMappingList(({ claim, targets }) =>
    AUTHORIZATION_CLAIMS.includes(claim) && targets.includes('access_token')
      ? ['claim', 'gives rights at APIs, and is mapped into access tokens by the API alone']
      : null,
  ),
  answer,
  [],
  [sample],
)

/** The mappings of an API, in the access tokens for it alone. */
export const apiClaimMappings = standardField(
  createMappingList(({ targets }) =>
    targets.every((target) => target === 'access_token') ? null : ['targets', 'must be the access token'],
  ),
  answer,
  [],
  [{ ...sample, targets: ['access_token'] }],
)
