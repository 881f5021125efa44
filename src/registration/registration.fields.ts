import * as z from 'zod'
import type { CachedClient } from '../access/client-cache.ts'
import { AUTH_METHODS } from '../clients/auth-methods.ts'
import { canUseGrant, SIGN_IN_GRANT_TYPES } from '../clients/client-grants.ts'
import { createClientCreateShape } from '../clients/client-inputs.fields.ts'
import type { Client } from '../clients/clients.ts'
import type { FieldIssue } from '../core/errors.ts'
import { isJsonObject } from '../core/json/json-object.ts'
import { isUserScope, OIDC_SCOPES } from '../core/scopes.ts'
import { toEpochSeconds } from '../core/time.ts'
import { DEFAULT_SIGNING_ALGORITHM } from '../keys/signing-algorithms.ts'
import type { ClientTranslation } from '../model/client-translation.ts'
import { isPublicClient } from '../model/public-clients.ts'
import { oneOf, PARSE_OPTIONS, toFieldIssues } from '../schema/input-shapes.ts'
import { isLoopbackHost } from '../schema/url-shapes.ts'
import { readLanguageMembers, toLanguageMembers } from './language-members.ts'

type AuthMethod = (typeof AUTH_METHODS)[number]

/**
 * Client metadata members (RFC 7591, section 2; OIDC Registration 1.0, section 2; RP-Initiated Logout 1.0,
 * section 3.1; Back-Channel Logout 1.0, section 2.2; RFC 9126, section 6; RFC 9449, section 5.2) by the client field that stores
 * each and whose validation applies.
 */
const FIELD_BY_MEMBER = {
  client_name: 'name',
  redirect_uris: 'callbacks',
  logo_uri: 'logoUrl',
  client_uri: 'clientUri',
  policy_uri: 'policyUrl',
  tos_uri: 'termsUrl',
  post_logout_redirect_uris: 'allowedLogoutUrls',
  initiate_login_uri: 'initiateLoginUrl',
  backchannel_logout_uri: 'backchannelLogoutUrl',
  jwks: 'jwks',
  jwks_uri: 'jwksUri',
  id_token_signed_response_alg: 'idTokenSigningAlg',
  userinfo_signed_response_alg: 'userInfoSigningAlg',
  id_token_claims: 'idTokenClaims',
  require_pushed_authorization_requests: 'requirePushedRequests',
  dpop_bound_access_tokens: 'dpopBoundAccessTokens',
  default_max_age: 'defaultMaxAge',
} as const
const MEMBER_FIELDS = Object.entries(FIELD_BY_MEMBER) as [
  keyof typeof FIELD_BY_MEMBER,
  (typeof FIELD_BY_MEMBER)[keyof typeof FIELD_BY_MEMBER],
][]
const MEMBER_BY_FIELD = new Map<string, string>([
  ...MEMBER_FIELDS.map(([member, field]) => [field, member] as const),
  ['tokenEndpointAuthMethod', 'token_endpoint_auth_method'],
])

/** Issues of the fields of a client, by the members of its metadata that have them. */
export const toMemberIssues = (issues: readonly FieldIssue[]): FieldIssue[] =>
  issues.map(({ field, description }) => {
    const [name = '', ...rest] = field.split('.')
    return { field: [MEMBER_BY_FIELD.get(name) ?? name, ...rest].join('.'), description }
  })

export const createForbiddenField = (message: string) => z.undefined(message).optional()

/** Members that correspond to no client field. Unknown members are ignored (RFC 7591, section 2). */
export const ClientMetadata = z.looseObject(
  {
    redirect_uris: z.array(z.unknown(), 'must be an array').min(1, 'must have at least one entry'),
    application_type: oneOf(['web', 'native']).optional(),
    token_endpoint_auth_method: oneOf(AUTH_METHODS).optional(),
    grant_types: z
      .array(oneOf(SIGN_IN_GRANT_TYPES), 'must be an array')
      .refine((types) => types.includes('authorization_code'), 'must contain authorization_code')
      .optional(),
    response_types: z
      .array(oneOf(['code']), 'must be an array')
      .min(1, 'must contain code')
      .optional(),
    subject_type: oneOf(['public']).optional(),
    scope: z.string('must be a string').optional(),
    backchannel_logout_session_required: z.boolean('must be true or false').optional(),
    require_auth_time: z.boolean('must be true or false').optional(),
  },
  'must be an object',
)

/** Client metadata as the input of createClient, with its issues reportedMembers by metadata members. */
export type ParsedMetadata = { input: Record<string, unknown>; method: AuthMethod; issues: FieldIssue[] }

const parseWebUrl = (uri: unknown): URL | null => {
  const url = typeof uri === 'string' && URL.canParse(uri) ? new URL(uri) : null
  return url && /^https?:$/.test(url.protocol) ? url : null
}
const isLoopbackUrl = (uri: unknown): boolean => {
  const url = parseWebUrl(uri)
  return url ? url.protocol === 'http:' && isLoopbackHost(url.hostname) : true
}

/**
 * Without application_type, a public client with only loopback redirect URIs is native (RFC 8252, section 7).
 */
function isNativeClient({
  application_type: type,
  token_endpoint_auth_method: method,
  redirect_uris: uris,
}: Record<string, unknown>) {
  if (type !== undefined || method !== 'none') return type === 'native'
  return Array.isArray(uris) && uris.length > 0 && uris.every(isLoopbackUrl)
}

/**
 * Parses client metadata by the rules for all clients and collects all issues. `shape` validates members that
 * correspond to no field; `fallback` applies without token_endpoint_auth_method or client_name.
 */
export function parseMetadata(
  tenant: string,
  metadata: unknown,
  shape: z.ZodType,
  fallback: { method: AuthMethod; name: string },
): ParsedMetadata {
  const parsed = shape.safeParse(metadata, PARSE_OPTIONS)
  const issues = parsed.error ? toFieldIssues(parsed.error) : []
  if (!isJsonObject(metadata)) return { input: {}, method: 'none', issues }
  const native = isNativeClient({ token_endpoint_auth_method: fallback.method, ...metadata })
  const method = (metadata.token_endpoint_auth_method ?? (native ? 'none' : fallback.method)) as AuthMethod
  if (native && method !== 'none')
    issues.push({
      field: 'token_endpoint_auth_method',
      description: 'must be none for a native application, which cannot keep a secret',
    })
  if (method === 'private_key_jwt' && (metadata.jwks ?? metadata.jwks_uri) == null)
    issues.push({ field: 'jwks', description: 'is required for private_key_jwt, unless jwks_uri is given' })
  if (typeof metadata.logo_uri === 'string' && /^data:/i.test(metadata.logo_uri))
    issues.push({ field: 'logo_uri', description: 'must be an http or https URL' })
  const languages = readLanguageMembers(metadata)
  issues.push(...languages.issues)
  const appType = native ? 'native' : method === 'none' ? 'single-page' : 'web'
  const input: Record<string, unknown> = {
    ...Object.fromEntries(MEMBER_FIELDS.map(([member, field]) => [field, metadata[member] ?? null])),
    name: metadata.client_name ?? fallback.name,
    translations: languages.translations,
    appType,
    // The origins that receive its codes may call the token endpoint, also after a change of the redirect URIs.
    ...(appType === 'single-page' && { allowedOrigins: null }),
  }
  const validated = createClientCreateShape(tenant).safeParse({ type: 'login', ...input }, PARSE_OPTIONS)
  const reportedMembers = new Set(issues.map(({ field }) => field))
  for (const { field, description } of validated.error ? toFieldIssues(validated.error) : []) {
    const [name = '', ...rest] = field.split('.')
    if (name === 'translations')
      issues.push(...languages.findMembers(field).map((member) => ({ field: member, description })))
    const member = MEMBER_BY_FIELD.get(name)
    if (member && !reportedMembers.has(member))
      issues.push({ field: [member, ...rest].join('.'), description })
  }
  return { input, method, issues }
}

/** Metadata that nobody reviewed, without `logo_uri` in any language: its image could change at any time. */
export const omitLogos = (document: unknown): unknown =>
  isJsonObject(document)
    ? Object.fromEntries(
        Object.entries(document).filter(([member]) => member.split('#', 1)[0] !== 'logo_uri'),
      )
    : document

/** The host of the first redirect URI, the default name of a client. */
export const selectClientHost = (metadata: unknown): string => {
  const uris = isJsonObject(metadata) ? metadata.redirect_uris : null
  return (Array.isArray(uris) && parseWebUrl(uris[0])?.host) || 'Application'
}

/** How a registered client authenticates. A client with a secret may send it in the header or the form. */
export function getAuthMethod(client: Client, hasClientSecret: boolean): AuthMethod {
  if (isPublicClient(client)) return 'none'
  if (client.tokenEndpointAuthMethod !== null) return client.tokenEndpointAuthMethod as AuthMethod
  return hasClientSecret ? 'client_secret_basic' : 'private_key_jwt'
}

export const hasSecret = ({ secretHashes }: CachedClient): boolean => secretHashes.length > 0

/** The metadata of a registered client (RFC 7591, section 3.2.1); unset members are omitted. */
export function toClientMetadata(client: Client, method: AuthMethod): Record<string, unknown> {
  const set = MEMBER_FIELDS.map(([member, field]) => [member, client[field]] as const)
  return {
    client_id: client.id,
    client_id_issued_at: toEpochSeconds(client.createdAt),
    ...Object.fromEntries(set.filter(([, value]) => value !== null)),
    ...toLanguageMembers(client.translations as ClientTranslation[]),
    id_token_signed_response_alg: client.idTokenSigningAlg ?? DEFAULT_SIGNING_ALGORITHM,
    application_type: client.appType === 'native' ? 'native' : 'web',
    token_endpoint_auth_method: method,
    grant_types: SIGN_IN_GRANT_TYPES.filter((type) => canUseGrant(client, type)),
    response_types: ['code'],
    subject_type: 'public',
    scope: OIDC_SCOPES.filter((scope) => !isUserScope(scope) || client.scopes.includes(scope)).join(' '),
    backchannel_logout_session_required: true,
    // Each ID token has it.
    require_auth_time: true,
  }
}
