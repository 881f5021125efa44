import { z } from 'zod'
import type { CachedClient } from '../clients/client-cache.ts'
import { clientCreate } from '../clients/clients.fields.ts'
import type { Client } from '../clients/clients.ts'
import type { FieldFault } from '../errors.ts'
import { faultsOf } from '../fields.ts'
import { AUTH_METHODS, isPublic } from '../oidc/client-auth/auth-methods.ts'
import { DEVICE_CODE_GRANT, mayUseDevices } from '../oidc/device/device-clients.ts'
import { OIDC_SCOPES } from '../oidc/scopes.ts'
import { DEFAULT_SIGNING_ALGORITHM } from '../signing-algorithms.ts'
import { epochSeconds } from '../time.ts'

type AuthMethod = (typeof AUTH_METHODS)[number]

/**
 * Members of client metadata (RFC 7591, section 2; OIDC Registration 1.0, section 2; RP-Initiated Logout 1.0, section 3.1;
 * Back-Channel Logout 1.0, section 2.2; RFC 9126, section 6) by the field of a client that each becomes, whose rules are theirs.
 */
const FIELDS = {
  client_name: 'name',
  redirect_uris: 'callbacks',
  logo_uri: 'logoUrl',
  post_logout_redirect_uris: 'allowedLogoutUrls',
  initiate_login_uri: 'initiateLoginUrl',
  backchannel_logout_uri: 'backchannelLogoutUrl',
  jwks: 'jwks',
  id_token_signed_response_alg: 'idTokenSigningAlg',
  userinfo_signed_response_alg: 'userInfoSigningAlg',
  require_pushed_authorization_requests: 'requirePushedRequests',
} as const
const MEMBERS = Object.entries(FIELDS) as [keyof typeof FIELDS, (typeof FIELDS)[keyof typeof FIELDS]][]
const memberOf = new Map<string, string>(MEMBERS.map(([member, field]) => [field, member]))

/** What clients that nobody vouches for may do: sign people in, and stay so. */
const GRANT_TYPES = ['authorization_code', 'refresh_token', DEVICE_CODE_GRANT] as const

export const oneOf = <const Values extends readonly [string, ...string[]]>(values: Values) =>
  z.enum(values, `must be one of: ${values.join(', ')}`)
export const refused = (why: string) => z.undefined(why).optional()

/** What becomes no field of a client, and says how it works. Members that are not known here are ignored (RFC 7591, section 2). */
export const Metadata = z.looseObject(
  {
    redirect_uris: z.array(z.unknown(), 'must be an array').min(1, 'must have an entry at least'),
    application_type: oneOf(['web', 'native']).optional(),
    token_endpoint_auth_method: oneOf(AUTH_METHODS).optional(),
    grant_types: z
      .array(oneOf(GRANT_TYPES), 'must be an array')
      .refine((types) => types.includes('authorization_code'), 'must have authorization_code')
      .optional(),
    response_types: z
      .array(oneOf(['code']), 'must be an array')
      .min(1, 'must have code')
      .optional(),
    subject_type: oneOf(['public']).optional(),
    scope: z.string('must be a string').optional(),
    backchannel_logout_session_required: z.boolean('must be true or false').optional(),
    jwks_uri: refused('is not fetched: send the keys as jwks'),
  },
  'must be an object',
)

/** Client metadata as the input of a service, and what is wrong with it, by its own names. */
export type ReadMetadata = { input: Record<string, unknown>; method: AuthMethod; faults: FieldFault[] }

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const webUrl = (uri: unknown): URL | null => {
  const url = typeof uri === 'string' && URL.canParse(uri) ? new URL(uri) : null
  return url && /^https?:$/.test(url.protocol) ? url : null
}
const isOnDevice = (uri: unknown): boolean => {
  const url = webUrl(uri)
  return url ? url.protocol === 'http:' && /^(127\.0\.0\.1|\[::1\]|localhost)$/.test(url.hostname) : true
}

/** One that does not say what it is, and is answered nowhere but on the person's own device, is native (RFC 8252, section 7). */
function isNative({
  application_type: type,
  token_endpoint_auth_method: method,
  redirect_uris: uris,
}: Record<string, unknown>) {
  if (type !== undefined || method !== 'none') return type === 'native'
  return Array.isArray(uris) && uris.length > 0 && uris.every(isOnDevice)
}

/**
 * Reads client metadata by the rules that clients of administrators have as well, and names all that is wrong at once.
 * `shape` is what else it must be like; `fallback` is what it is without token_endpoint_auth_method or client_name.
 */
export function readMetadata(
  tenant: string,
  metadata: unknown,
  shape: z.ZodType,
  fallback: { method: AuthMethod; name: string },
): ReadMetadata {
  const parsed = shape.safeParse(metadata, { reportInput: true })
  const faults = parsed.error ? faultsOf(parsed.error) : []
  if (!isRecord(metadata)) return { input: {}, method: 'none', faults }
  const native = isNative({ token_endpoint_auth_method: fallback.method, ...metadata })
  const method = (metadata.token_endpoint_auth_method ?? (native ? 'none' : fallback.method)) as AuthMethod
  if (native && method !== 'none')
    faults.push({
      field: 'token_endpoint_auth_method',
      description: 'must be none for a native application, which can keep no secret',
    })
  if (method === 'private_key_jwt' && metadata.jwks === undefined)
    faults.push({ field: 'jwks', description: 'is required for private_key_jwt' })
  const appType = native ? 'native' : method === 'none' ? 'single-page' : 'web'
  const input: Record<string, unknown> = {
    ...Object.fromEntries(MEMBERS.map(([member, field]) => [field, metadata[member] ?? null])),
    name: metadata.client_name ?? fallback.name,
    appType,
    // Who may get its codes may call with them.
    ...(appType === 'single-page' && { allowedOrigins: originsIn(metadata.redirect_uris) }),
  }
  const checked = clientCreate(tenant).safeParse({ type: 'login', ...input }, { reportInput: true })
  const named = new Set(faults.map(({ field }) => field))
  for (const { field, description } of checked.error ? faultsOf(checked.error) : []) {
    const [name = '', ...rest] = field.split('.')
    const member = memberOf.get(name)
    if (member && !named.has(member)) faults.push({ field: [member, ...rest].join('.'), description })
  }
  return { input, method, faults }
}

const originsIn = (uris: unknown): string[] =>
  Array.isArray(uris) ? [...new Set(uris.flatMap((uri) => webUrl(uri)?.origin ?? []))] : []

/** The host of the first redirect URI: what a client without a name is called. */
export const hostIn = (metadata: unknown): string => {
  const uris = isRecord(metadata) ? metadata.redirect_uris : null
  return (Array.isArray(uris) && webUrl(uris[0])?.host) || 'Application'
}

/** How a registered client authenticates; with a secret, by Basic and by the form alike. */
export function methodOf(client: Client, hasSecret: boolean): AuthMethod {
  if (isPublic(client)) return 'none'
  return hasSecret ? 'client_secret_basic' : 'private_key_jwt'
}

export const hasSecret = ({ secretHashes }: CachedClient): boolean => secretHashes.length > 0

/** The metadata of a client as it is registered (RFC 7591, section 3.2.1); what is unset is left out. */
export function toMetadata(client: Client, method: AuthMethod): Record<string, unknown> {
  const set = MEMBERS.map(([member, field]) => [member, client[field]] as const)
  return {
    client_id: client.id,
    client_id_issued_at: epochSeconds(client.createdAt),
    ...Object.fromEntries(set.filter(([, value]) => value !== null)),
    id_token_signed_response_alg: client.idTokenSigningAlg ?? DEFAULT_SIGNING_ALGORITHM,
    application_type: client.appType === 'native' ? 'native' : 'web',
    token_endpoint_auth_method: method,
    grant_types: GRANT_TYPES.filter((type) => type !== DEVICE_CODE_GRANT || mayUseDevices(client)),
    response_types: ['code'],
    subject_type: 'public',
    scope: OIDC_SCOPES.join(' '),
    backchannel_logout_session_required: true,
  }
}
