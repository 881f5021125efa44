import { ACCOUNT_SCOPE } from '../../core/scopes.ts'
import { listExtraClaims } from '../model/claims-request.ts'
import type { StepConsent, StepRequest } from './step-facts.ts'

/** The scopes that require the user's consent. */
export function listConsentScopes({
  requireConsent,
  scopes,
}: Pick<StepRequest, 'requireConsent' | 'scopes'>): readonly string[] {
  // Without requireConsent the tenant has permitted the client's scopes by registering it, offline_access
  // included (OIDC Core, section 11). Only the user can permit changes to their account.
  return requireConsent ? scopes : scopes.filter((scope) => scope === ACCOUNT_SCOPE)
}

/** Whether the client gets nothing from a user who has not consented to anything: also a request without scopes asks. */
export const requiresConsent = (request: Pick<StepRequest, 'requireConsent' | 'scopes'>): boolean =>
  request.requireConsent || listConsentScopes(request).length > 0

/** Whether the user must consent to the request. */
export function needsConsent(request: StepRequest, consent: StepConsent | null): boolean {
  if (requiresConsent(request) && !consent) return true
  if (request.prompt.includes('consent') && !consent?.isFresh) return true
  if (request.requireConsent && !request.resources.every((resource) => consent?.resources.includes(resource)))
    return true
  if (!listConsentScopes(request).every((scope) => consent?.scopes.includes(scope))) return true
  // Consent to a scope covers its claims.
  const extraClaims = listExtraClaims(request.claims, [...request.scopes, ...(consent?.scopes ?? [])])
  return (
    request.requireConsent &&
    ![...extraClaims, ...request.mappedClaims].every((claim) => consent?.claims.includes(claim))
  )
}
