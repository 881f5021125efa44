import { isScope, isUserScope, SCOPES } from '../core/scopes.ts'
import { readClaimName } from '../model/claim-mappings.ts'
import { CLAIM_DEFINITIONS } from '../users/claims.ts'

/** A scope with its meaning in plain words. */
export type ScopeConsentItem = { scope: string; words: string }

const SCOPE_DESCRIPTIONS: Record<string, string> = {
  openid: 'Know who you are when you sign in',
  profile: 'See your profile, such as your name, picture and language',
  email: 'See your email address',
  phone: 'See your phone number',
  address: 'See your postal address',
  offline_access: 'Keep this access when you are not using it',
  session: 'Stay signed in for as long as you are signed in here',
  account: 'Change your profile, your addresses, how you sign in, and which apps may use your account',
  organization: 'Manage the organizations that you are an administrator of',
}

const toSentenceCase = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** The meaning of a scope for the user; an undescribed scope is shown by its name. */
export function describeScope(scope: string): string {
  if (Object.hasOwn(SCOPE_DESCRIPTIONS, scope)) return SCOPE_DESCRIPTIONS[scope] as string
  if (isScope(scope)) return `${toSentenceCase(SCOPES[scope])}, on your behalf`
  return `Use “${scope}”`
}

/** Items of the consent page for the requested scopes, in their order, each once. */
export const toScopeConsentItems = (scopes: readonly string[]): ScopeConsentItem[] =>
  [...new Set(scopes)].map((scope) => ({ scope, words: describeScope(scope) }))

/** An item of a consent page. Sensitive ones are set apart: they change something, or last without the user. */
export type ConsentItem = { words: string; isSensitive: boolean }

const isSensitiveScope = (scope: string): boolean =>
  isUserScope(scope) || scope === 'offline_access' || isScope(scope)

/** What a client requests, for a consent page: scopes, then claims that no scope covers. */
export const listConsentItems = (scopes: readonly string[], claims: readonly string[]): ConsentItem[] => [
  ...toScopeConsentItems(scopes).map(({ scope, words }) => ({ words, isSensitive: isSensitiveScope(scope) })),
  ...toClaimConsentItems(claims).map(({ words }) => ({ words, isSensitive: false })),
]

/** An individually requested claim with its meaning in plain words. */
export type ClaimConsentItem = { claim: string; words: string }

/** The meaning of a claim for the user; an unknown claim is shown by its name. */
export const describeClaim = (claim: string): string =>
  (Object.hasOwn(CLAIM_DEFINITIONS, claim) && CLAIM_DEFINITIONS[claim]?.description) || `See “${claim}”`

/** Items of the consent page for claims that no scope covers, each name once. */
export const toClaimConsentItems = (claims: readonly string[]): ClaimConsentItem[] =>
  [...new Set(claims.map(readClaimName))].map((claim) => ({ claim, words: describeClaim(claim) }))
