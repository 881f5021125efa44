import * as z from 'zod'
import type { FieldIssue } from '../core/errors.ts'
import { flag, oneOf, requiredText, switchedOn } from '../schema/input-shapes.ts'
import { type IdpType, PROVIDER_TYPES } from './provider-types.ts'

/** Who may enter by a provider: linked users only, also new users with an address of `domains`, or anyone. */
export const IDP_ENTRIES = ['linked', 'domains', 'anyone'] as const
export type IdpEntry = (typeof IDP_ENTRIES)[number]

/** When the claims of the provider are copied to the user. */
export const COPY_TIMES = ['once', 'always'] as const
export type CopyTime = (typeof COPY_TIMES)[number]

/** Fields of a user that a provider may fill in, with the claim that is copied unless `claims` names another. */
export const COPIED_CLAIMS = {
  name: 'name',
  givenName: 'given_name',
  familyName: 'family_name',
  middleName: 'middle_name',
  nickname: 'nickname',
  preferredUsername: 'preferred_username',
  profile: 'profile',
  picture: 'picture',
  website: 'website',
  gender: 'gender',
  birthdate: 'birthdate',
  zoneinfo: 'zoneinfo',
  locale: 'locale',
} as const
export type CopiedField = keyof typeof COPIED_CLAIMS
export const COPIED_FIELDS = Object.keys(COPIED_CLAIMS) as CopiedField[]

/** A host name of two labels or more, as it follows the @ of an address. */
const DOMAIN =
  /^([A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])$/
const MAX_DOMAINS = 100

const domain = z
  .string('must be text')
  .max(253, 'must have at most 253 characters')
  .regex(DOMAIN, 'must be a domain such as example.com')

const claims = z
  .strictObject(
    Object.fromEntries(
      COPIED_FIELDS.map((field) => [
        field,
        requiredText(100)
          .optional()
          .meta({ description: `The claim for ${field}.` }),
      ]),
    ) as Record<CopiedField, z.ZodOptional<z.ZodString>>,
    'must be an object',
  )
  .meta({
    id: 'CopiedClaims',
    description: 'The claim that is copied to each field of a user; others are not copied.',
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

/** What a provider has without a policy of its own. */
export const POLICY_DEFAULTS = {
  entry: 'linked' as IdpEntry,
  domains: [] as string[],
  trustEmail: false,
  claims: null as Record<string, string> | null,
  copyClaims: 'once' as CopyTime,
  trustAcr: null as Record<string, TrustedAcr> | null,
  trustAmr: [] as string[],
  upstreamLogout: false,
  usePkce: true,
  expectNonce: true,
  keepTokens: false,
}

/** The policy of a provider at sign-in; null is the default. */
export const POLICY_FIELDS = {
  entry: oneOf(IDP_ENTRIES)
    .nullable()
    .transform((value) => value ?? POLICY_DEFAULTS.entry)
    .optional()
    .meta({ example: 'anyone' }),
  domains: z
    .array(domain, 'must be an array')
    .max(MAX_DOMAINS, `must have at most ${MAX_DOMAINS} entries`)
    .nullable()
    .transform((names) => [...new Set((names ?? []).map((name) => name.toLowerCase()))])
    .optional()
    .meta({ example: ['partner.example'] }),
  trustEmail: flag.meta({ example: true }),
  claims: claims
    .nullable()
    .optional()
    .meta({ example: { preferredUsername: 'login' } }),
  copyClaims: oneOf(COPY_TIMES)
    .nullable()
    .transform((value) => value ?? POLICY_DEFAULTS.copyClaims)
    .optional()
    .meta({ example: 'once' }),
  trustAcr: trustAcr
    .nullable()
    .optional()
    .meta({ example: { 'urn:okta:loa:2fa:any': 'urn:vestibule:mfa' } }),
  trustAmr: z
    .array(amrValue, 'must be an array')
    .max(MAX_TRUSTED_VALUES, `must have at most ${MAX_TRUSTED_VALUES} entries`)
    .nullable()
    .transform((values) => [...new Set(values ?? [])])
    .optional()
    .meta({ example: ['mfa'] }),
  upstreamLogout: flag.meta({ example: true }),
  usePkce: switchedOn.meta({ example: true }),
  expectNonce: switchedOn.meta({ example: true }),
  keepTokens: flag.meta({ example: true }),
}
export const POLICY_NAMES = Object.keys(POLICY_FIELDS) as (keyof typeof POLICY_FIELDS)[]

/** The policy as REST returns it. */
export const POLICY_SHAPES = {
  entry: z.enum(IDP_ENTRIES).meta({ example: 'anyone' }),
  domains: z.array(z.string()).meta({ example: ['partner.example'] }),
  trustEmail: z.boolean().meta({ example: true }),
  claims: z
    .record(z.string(), z.string())
    .nullable()
    .meta({ example: { preferredUsername: 'login' } }),
  copyClaims: z.enum(COPY_TIMES).meta({ example: 'once' }),
  trustAcr: z
    .record(z.string(), z.string())
    .nullable()
    .meta({ example: { 'urn:okta:loa:2fa:any': 'urn:vestibule:mfa' } }),
  trustAmr: z.array(z.string()).meta({ example: ['mfa'] }),
  upstreamLogout: z.boolean().meta({ example: true }),
  usePkce: z.boolean().meta({ example: true }),
  expectNonce: z.boolean().meta({ example: true }),
  keepTokens: z.boolean().meta({ example: true }),
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
