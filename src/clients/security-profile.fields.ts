import * as z from 'zod'
import { isJsonObject } from '../core/json/json-object.ts'
import { FAPI_ALGORITHMS } from '../keys/public-keys.ts'
import { SIGNING_ALGORITHMS } from '../keys/signing-algorithms.ts'
import { defineEnum } from '../schema/enums.ts'
import { addStandards, createField, nullableField } from '../schema/fields.ts'
import { boolean } from '../schema/input-shapes.ts'
import { APP_TYPES, HAS_SECRET } from './client-types.ts'

/** Sets of security settings under one name. See docs/decisions/0126. */
export const SECURITY_PROFILE = defineEnum('SecurityProfile', 'A set of security settings of a client.', {
  fapi2: 'The FAPI 2.0 Security Profile.',
})
type SecurityProfile = (typeof SECURITY_PROFILE.values)[number]

/** How a confidential client may be required to authenticate (RFC 7591, section 2: token_endpoint_auth_method). */
const REQUIRABLE_AUTH_METHOD = defineEnum(
  'TokenEndpointAuthMethod',
  'How a client authenticates (OpenID Connect Core, section 9).',
  {
    client_secret_basic: 'By its secret in the Authorization header.',
    client_secret_post: 'By its secret in the form.',
    private_key_jwt: 'By an assertion that it signs with one of its keys.',
  },
)

/** A switch that a profile may imply: null is the standard value, or that of the profile. */
function impliedField(standard: boolean, example?: boolean) {
  const input = boolean.nullish()
  return createField({ creation: input, change: input, answer: z.boolean(), standard, example })
}

/** The settings that a profile implies. */
export const SECURITY_SETTINGS = {
  requirePushedRequests: impliedField(false),
  requirePkce: impliedField(false),
  tokenEndpointAuthMethod: nullableField(
    REQUIRABLE_AUTH_METHOD.shape,
    REQUIRABLE_AUTH_METHOD.shape,
    'private_key_jwt',
  ),
  requireIssuerAudience: impliedField(false),
  requireFapiAlgorithms: impliedField(false),
  dpopBoundAccessTokens: impliedField(false),
  rotateRefreshTokens: impliedField(true, true),
}
type SettingName = keyof typeof SECURITY_SETTINGS
type SecuritySettings = { [Name in SettingName]: z.output<(typeof SECURITY_SETTINGS)[Name]['answer']> }

const SETTING_NAMES = Object.keys(SECURITY_SETTINGS) as SettingName[]
/** The settings of a client without a profile, where they are not given. */
const DEFAULTS = addStandards(SECURITY_SETTINGS) as SecuritySettings

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
  SECURITY_PROFILE.values.includes(profile as SecurityProfile) ? IMPLIED[profile as SecurityProfile] : null

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
