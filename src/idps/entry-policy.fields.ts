import * as z from 'zod'
import type { FieldIssue } from '../core/errors.ts'
import { PROFILE_FIELD_NAMES, type ProfileField } from '../model/profile-fields.ts'
import { defineEnum } from '../schema/enums.ts'
import { enumField, flagField, listField, nullableField } from '../schema/fields.ts'
import { omitNulls, oneOf, optional, requiredText } from '../schema/input-shapes.ts'
import { findDescription } from '../schema/schema-descriptions.ts'
import { type IdpType, PROVIDER_TYPES } from './provider/provider-types.ts'

const ENTRY = defineEnum('IdentityProviderEntry', 'Who may enter by an identity provider.', {
  linked: 'Users who are linked.',
  domains: 'Also new users with a verified address of `domains`.',
  anyone: 'Also new users.',
})

const COPY_TIME = defineEnum('CopyTime', 'When claims of an identity provider are copied to the user.', {
  once: 'When the user is created.',
  always: 'At each sign-in.',
})

/** A host name of two labels or more, as it follows the @ of an address. */
const DOMAIN =
  /^([A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])$/

const domain = z
  .string('must be text')
  .max(253, 'must have at most 253 characters')
  .regex(DOMAIN, 'must be a domain such as example.com')
  .transform((name) => name.toLowerCase())

const createClaimShape = (field: ProfileField) =>
  optional(requiredText(100)).meta({ description: `The claim for ${field}.` })
const CLAIM_BY_FIELD = Object.fromEntries(
  PROFILE_FIELD_NAMES.map((field) => [field, createClaimShape(field)]),
) as Record<ProfileField, ReturnType<typeof createClaimShape>>

const claims = z
  .strictObject(CLAIM_BY_FIELD, 'must be an object')
  .meta({
    id: 'CopiedClaims',
    typeName: 'CopiedClaimsInput',
    description: 'The claim that is copied to each field of a user; others are not copied.',
  })
  .transform(omitNulls)

/** The claims as responses have them: openapi.json states a map, and GraphQL has a field for each. */
const CopiedClaimsShape = z.object(CLAIM_BY_FIELD).meta({
  typeName: 'CopiedClaims',
  properties: undefined,
  additionalProperties: { type: 'string' },
  description: findDescription('IdentityProvider', 'claims'),
})

/** The `acr` values that a provider may be trusted with, each with the method that is recorded for it (RFC 8176). */
export const AMR_BY_TRUSTED_ACR = {
  'urn:vestibule:otp': 'otp',
  'urn:vestibule:mfa': 'mfa',
  // Phishing-resistant: a key was proven.
  phr: 'pop',
} as const
export type TrustedAcr = keyof typeof AMR_BY_TRUSTED_ACR
const TRUSTED_ACRS = Object.keys(AMR_BY_TRUSTED_ACR) as [TrustedAcr, ...TrustedAcr[]]

const MAX_TRUSTED_VALUES = 20
/** A value of acr_values: it has no space. */
const ACR_SYNTAX = /^[\x21-\x7e]{1,200}$/
const AMR_SYNTAX = /^[\w:.-]{1,50}$/

const trustAcr = z
  .record(z.string(), oneOf(TRUSTED_ACRS), 'must be an object')
  .superRefine((map, context) => {
    const names = Object.keys(map)
    if (names.length > MAX_TRUSTED_VALUES) context.addIssue(`must have at most ${MAX_TRUSTED_VALUES} members`)
    for (const name of names.filter((each) => !ACR_SYNTAX.test(each)))
      context.addIssue({ code: 'custom', path: [name], message: 'must be an acr value without spaces' })
  })

const amrValue = z.string('must be text').regex(AMR_SYNTAX, 'must be a value of amr such as mfa')

/** The policy of a provider at sign-in. */
export const POLICY_FIELDS = {
  entry: enumField(ENTRY, 'linked', 'anyone'),
  domains: listField(domain, { isPlain: true, example: ['partner.example'] }),
  trustEmail: flagField(false, true),
  claims: nullableField(claims, CopiedClaimsShape, { preferredUsername: 'login' }),
  copyClaims: enumField(COPY_TIME, 'once', 'once'),
  trustAcr: nullableField(trustAcr, z.record(z.string(), z.string()), {
    'urn:okta:loa:2fa:any': 'urn:vestibule:mfa',
  }),
  trustAmr: listField(amrValue, { max: MAX_TRUSTED_VALUES, isPlain: true, example: ['mfa'] }),
  upstreamLogout: flagField(false, true),
  usePkce: flagField(true, true),
  expectNonce: flagField(true, true),
  keepTokens: flagField(false, true),
}

/** Issues of a policy as a whole. */
export function findPolicyIssues(idp: Record<string, unknown>): FieldIssue[] {
  const { entry, domains, trustEmail, trustAcr: acrs, trustAmr, type, issuer } = idp
  const issues: FieldIssue[] = []
  const add = (field: string, description: string) => issues.push({ field, description })
  if (entry === 'domains') {
    if (!Array.isArray(domains) || domains.length === 0) add('domains', 'is required with entry domains')
    if (trustEmail !== true) add('trustEmail', 'must be true with entry domains')
  }
  // Each organization chooses the addresses in its tokens.
  if (trustEmail === true && type === 'microsoft' && !issuer)
    add('trustEmail', 'requires issuer: with any organization, addresses are not verified')
  for (const [field, value] of Object.entries({ trustAcr: acrs, trustAmr })) {
    if (!value || Object.keys(value).length === 0) continue
    if (!PROVIDER_TYPES[type as IdpType]?.idToken)
      add(field, 'requires a type of provider that issues ID tokens')
    // Each organization chooses what its users have to prove.
    if (type === 'microsoft' && !issuer)
      add(field, 'requires issuer: with any organization, nobody is trusted')
  }
  if (idp.upstreamLogout === true && !PROVIDER_TYPES[type as IdpType]?.idToken)
    add('upstreamLogout', 'requires a type of provider that issues ID tokens')
  return issues
}
