import { SYSTEM_SCOPES, SYSTEM_TENANT } from '../ctx.ts'
import { env } from '../env.ts'
import { allowedUrl, type UrlRules, urlFault } from '../fields.ts'
import { APP_TYPES, type AppType, HAS_SECRET } from './client-types.ts'

/** http only reaches this machine in production; in development also test hosts of a local network. */
const SECURE: UrlRules = { secure: env.isProduction }

/** Redirect targets are compared byte for byte, so that a pattern would never match: refuse it instead. */
const plainUrl = (rules: UrlRules) =>
  allowedUrl(rules).refine((value) => !value.includes('*'), 'must not contain wildcards')

/** Whether apps of this type may have `url` as a redirect target is checked once the type is known. */
const ANY_REDIRECT: UrlRules = { ...SECURE, customSchemes: true }
export const redirectUrl = plainUrl(ANY_REDIRECT)
export const origin = plainUrl({ ...SECURE, originOnly: true })

/** Why an app of this type may not be sent to `url`, or null. Only native apps have schemes of their own (RFC 8252, 7.1). */
function redirectFault(appType: AppType, url: string): string | null {
  if (appType === 'machine') return 'a machine client has no browser to send anywhere'
  // On a person's own device, unencrypted http is for the app's loopback listener only (RFC 8252, section 7.3).
  return urlFault(url, appType === 'native' ? { customSchemes: true, secure: true } : SECURE)
}

/** What a client that can keep no secret has none of. */
export const NO_SECRET_FIELDS = { jwks: null, resources: [] }
const SECRET_FIELDS = Object.keys(NO_SECRET_FIELDS) as (keyof typeof NO_SECRET_FIELDS)[]
export const REDIRECT_FIELDS = ['callbacks', 'allowedLogoutUrls'] as const

const textsOf = (value: unknown): [index: number, text: string][] =>
  Array.isArray(value) ? [...value.entries()].filter(([, item]) => typeof item === 'string') : []

const isGiven = (value: unknown): boolean =>
  value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0)

/**
 * Rules that concern more than one field, or the tenant. They run beside faults of single fields: all are named at once.
 * Redirect targets are checked in `redirectFields` only.
 */
export function checkAcrossFields(
  tenant: string,
  client: Record<string, unknown>,
  report: (path: PropertyKey[], message: string) => void,
  redirectFields: readonly (typeof REDIRECT_FIELDS)[number][] = REDIRECT_FIELDS,
): void {
  const appType = APP_TYPES.find((known) => known === client.appType)
  for (const field of appType ? redirectFields : [])
    for (const [index, url] of textsOf(client[field])) {
      const fault = redirectFault(appType as AppType, url)
      if (fault && !urlFault(url, ANY_REDIRECT)) report([field, index], fault)
    }
  for (const field of appType && !HAS_SECRET[appType] ? SECRET_FIELDS : [])
    if (isGiven(client[field]))
      report([field], `a ${appType} client can keep no secret to prove that it is meant`)
  for (const [index, scope] of textsOf(client.scopes))
    if (tenant !== SYSTEM_TENANT && (SYSTEM_SCOPES as readonly string[]).includes(scope))
      report(['scopes', index], 'belongs to tenant system')
}
