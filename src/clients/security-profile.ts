import { isJsonObject } from '../core/json-object.ts'
import { FAPI_ALGORITHMS } from '../keys/public-keys.ts'
import { SIGNING_ALGORITHMS } from '../keys/signing-algorithms.ts'
import { APP_TYPES, HAS_SECRET } from './client-types.ts'

/**
 * Profiles: sets of security settings under one name. fapi2 is the FAPI 2.0 Security Profile.
 * See docs/decisions/0126.
 */
export const SECURITY_PROFILES = ['fapi2'] as const
export type SecurityProfile = (typeof SECURITY_PROFILES)[number]

/** How a confidential client may be required to authenticate (RFC 7591, section 2: token_endpoint_auth_method). */
export const REQUIRABLE_AUTH_METHODS = [
  'client_secret_basic',
  'client_secret_post',
  'private_key_jwt',
] as const
export type RequirableAuthMethod = (typeof REQUIRABLE_AUTH_METHODS)[number]

type SecuritySettings = {
  requirePushedRequests: boolean
  requirePkce: boolean
  tokenEndpointAuthMethod: RequirableAuthMethod | null
  requireIssuerAudience: boolean
  requireFapiAlgorithms: boolean
  dpopBoundAccessTokens: boolean
  rotateRefreshTokens: boolean
}
type SettingName = keyof SecuritySettings

/** The settings of a client without a profile, where they are not given. */
const DEFAULTS: SecuritySettings = {
  requirePushedRequests: false,
  requirePkce: false,
  tokenEndpointAuthMethod: null,
  requireIssuerAudience: false,
  requireFapiAlgorithms: false,
  dpopBoundAccessTokens: false,
  rotateRefreshTokens: true,
}
const SETTING_NAMES = Object.keys(DEFAULTS) as SettingName[]

/** The settings that a profile implies (FAPI 2.0 Security Profile, sections 5.3.2 and 5.4.1). */
const IMPLIED: Record<SecurityProfile, SecuritySettings> = {
  fapi2: {
    requirePushedRequests: true,
    requirePkce: true,
    tokenEndpointAuthMethod: 'private_key_jwt',
    requireIssuerAudience: true,
    requireFapiAlgorithms: true,
    dpopBoundAccessTokens: true,
    rotateRefreshTokens: false,
  },
}

const findImplied = (profile: unknown): SecuritySettings | null =>
  SECURITY_PROFILES.includes(profile as SecurityProfile) ? IMPLIED[profile as SecurityProfile] : null

/** Client fields with the settings that its profile implies, or else those given or the defaults. */
export function completeSecuritySettings<Fields extends { profile?: string | null }>(
  client: Fields & { [Name in SettingName]?: unknown },
): Fields & SecuritySettings {
  const own = Object.fromEntries(SETTING_NAMES.map((name) => [name, client[name] ?? DEFAULTS[name]]))
  return { ...client, ...own, ...findImplied(client.profile) } as Fields & SecuritySettings
}

type Report = (path: PropertyKey[], message: string) => void

/**
 * Reports each given setting that contradicts the profile or another setting. `given` are the members of the input,
 * `client` is the client as it will be.
 */
export function checkSecuritySettings(
  given: Record<string, unknown>,
  client: Record<string, unknown>,
  report: Report,
): void {
  const { profile } = client
  const implied = findImplied(profile)
  for (const name of implied ? SETTING_NAMES : [])
    if (given[name] != null && given[name] !== implied?.[name])
      report([name], `must be ${implied?.[name]} with profile ${profile}`)
  const settings = completeSecuritySettings(client)
  const appType = APP_TYPES.find((known) => known === client.appType)
  if (implied && appType && !HAS_SECRET[appType])
    report(['appType'], `must be web or machine with profile ${profile}`)
  if (
    settings.tokenEndpointAuthMethod === 'private_key_jwt' &&
    appType &&
    HAS_SECRET[appType] &&
    !client.jwks &&
    !client.jwksUri
  )
    report(
      ['jwks'],
      `is required for ${implied ? `profile ${profile}` : 'private_key_jwt'}, unless jwksUri is given`,
    )
  if (client.jwks && client.jwksUri) report(['jwksUri'], 'cannot be combined with jwks (RFC 7591, section 2)')
  if (settings.requireFapiAlgorithms) reportOtherAlgorithms(client, report)
  // A stolen refresh token would work for anyone, unnoticed (RFC 9700, section 2.2.2).
  if (!settings.rotateRefreshTokens && !settings.dpopBoundAccessTokens && appType && !HAS_SECRET[appType])
    report(['rotateRefreshTokens'], `must be true for a ${appType} client without dpopBoundAccessTokens`)
}

/** Whether a valid key can verify a signature of a permitted algorithm. */
const isFapiKey = (key: unknown): boolean => {
  const { alg, crv } = isJsonObject(key) ? key : {}
  return alg === undefined
    ? crv !== 'P-384' && crv !== 'P-521'
    : FAPI_ALGORITHMS.some((known) => known === alg)
}

/** Reports algorithms that FAPI 2.0 does not permit (FAPI 2.0 Security Profile, section 5.4.1). */
function reportOtherAlgorithms(client: Record<string, unknown>, report: Report): void {
  const permitted = SIGNING_ALGORITHMS.filter((alg) => FAPI_ALGORITHMS.some((known) => known === alg))
  for (const field of ['idTokenSigningAlg', 'userInfoSigningAlg'])
    if (client[field] != null && !(permitted as unknown[]).includes(client[field]))
      report([field], `must be ${permitted.join(' or ')} with requireFapiAlgorithms`)
  const keys = (client.jwks as { keys?: unknown } | null | undefined)?.keys
  for (const [index, key] of Array.isArray(keys) ? keys.entries() : [])
    if (!isFapiKey(key))
      report(
        ['jwks', 'keys', index],
        `must be a key for ${FAPI_ALGORITHMS.join(', ')} with requireFapiAlgorithms`,
      )
}
