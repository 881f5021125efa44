import { env } from '../core/env.ts'
import { isUserScope, SYSTEM_SCOPES, SYSTEM_TENANT } from '../core/scopes.ts'
import { createAllowedUrl, findUrlIssue, type UrlRules } from '../schema/url-shapes.ts'
import { APP_TYPES, type AppType, HAS_SECRET } from './client-types.ts'

/** In production, http is allowed for loopback hosts only; in development also for private hosts. */
const SECURE_URL: UrlRules = { secure: env.isProduction }

/** Redirect URIs are compared exactly, so a wildcard would never match and is rejected. */
const createPlainUrl = (rules: UrlRules) => createAllowedUrl({ ...rules, noWildcards: true })

/** A redirect URI. Rules that depend on the app type are checked once the type is known. */
const REDIRECT_URL_RULES: UrlRules = { ...SECURE_URL, customSchemes: true }
export const redirectUri = createPlainUrl(REDIRECT_URL_RULES)
export const webOrigin = createPlainUrl({ ...SECURE_URL, originOnly: true })

/**
 * Why `url` is not a redirect URI for this app type, or null. Private-use schemes are for native apps (RFC
 * 8252, section 7.1).
 */
function findRedirectIssue(appType: AppType, url: string): string | null {
  if (appType === 'machine') return 'a machine client has no browser to send anywhere'
  // For native apps, http is allowed for a loopback listener only (RFC 8252, section 7.3).
  return findUrlIssue(url, appType === 'native' ? { customSchemes: true, secure: true } : SECURE_URL)
}

/** The origins of the callbacks that are web addresses, each once: those that CORS permits by default. */
export const listCallbackOrigins = (callbacks: readonly string[]): string[] => [
  ...new Set(callbacks.filter((url) => /^https?:/i.test(url)).map((url) => new URL(url).origin)),
]

/** Fields that public clients do not have. */
export const SECRET_FIELD_DEFAULTS = {
  jwks: null,
  jwksUri: null,
  resources: [],
  tokenEndpointAuthMethod: null,
}
const SECRET_ONLY_FIELDS = Object.keys(SECRET_FIELD_DEFAULTS) as (keyof typeof SECRET_FIELD_DEFAULTS)[]
export const REDIRECT_FIELDS = ['callbacks', 'allowedLogoutUrls'] as const

const listTexts = (value: unknown): [index: number, text: string][] =>
  Array.isArray(value) ? [...value.entries()].filter(([, item]) => typeof item === 'string') : []

const isGiven = (value: unknown): boolean =>
  value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0)

/**
 * Rules across several fields, or about the tenant. They run also when single fields are invalid, so that all
 * issues are reported. Redirect URIs are checked in `redirectFields` only.
 */
export function checkClientConsistency(
  tenant: string,
  client: Record<string, unknown>,
  report: (path: PropertyKey[], message: string) => void,
  redirectFields: readonly (typeof REDIRECT_FIELDS)[number][] = REDIRECT_FIELDS,
): void {
  const appType = APP_TYPES.find((known) => known === client.appType)
  for (const field of appType ? redirectFields : [])
    for (const [index, url] of listTexts(client[field])) {
      const issue = findRedirectIssue(appType as AppType, url)
      if (issue && !findUrlIssue(url, REDIRECT_URL_RULES)) report([field, index], issue)
    }
  for (const field of appType && !HAS_SECRET[appType] ? SECRET_ONLY_FIELDS : [])
    if (isGiven(client[field]))
      report([field], `a ${appType} client cannot keep a secret to authenticate with`)
  for (const [index, scope] of listTexts(client.scopes)) {
    if (appType === 'machine' && isUserScope(scope))
      report(['scopes', index], 'is for users: a machine client acts for itself')
    if (tenant !== SYSTEM_TENANT && (SYSTEM_SCOPES as readonly string[]).includes(scope))
      report(['scopes', index], 'belongs to tenant system')
  }
}
