import { type ClaimRequest, isAcceptableValue } from '../../users/claim-request.ts'
import { CLAIM_DEFINITIONS } from '../../users/claims.ts'
import { satisfiesAcrRequest } from './acr.ts'

/**
 * A validated claims parameter (OIDC Core, section 5.5): the claims requested for userinfo and for the ID
 * token.
 */
export type ClaimsRequest = { userinfo: Record<string, ClaimRequest>; id_token: Record<string, ClaimRequest> }

/**
 * Whether the user matches the requested `sub` claims, if there are any (OIDC Core, sections 3.1.2.2 and
 * 5.5.1).
 */
export const isForUser = (claims: ClaimsRequest | null, userId: string): boolean =>
  [claims?.id_token.sub, claims?.userinfo.sub].every((request) => isAcceptableValue(request ?? null, userId))

/**
 * Whether a sign-in with this `acr` satisfies the request: only an essential `acr` claim with values
 * restricts it (OIDC Core, section 5.5.1.1).
 */
export function isAcceptableAcr(claims: ClaimsRequest | null, acr: string): boolean {
  const request = claims?.id_token.acr ?? null
  return !request?.essential || satisfiesAcrRequest(request, acr)
}

/** The individually requested user claims that none of `scopes` covers. */
export const listExtraClaims = (request: ClaimsRequest | null, scopes: readonly string[]): string[] =>
  Object.entries(CLAIM_DEFINITIONS)
    .filter(([name, { scope }]) => isRequestedClaim(request, name) && !scopes.includes(scope))
    .map(([name]) => name)

const isRequestedClaim = (request: ClaimsRequest | null, name: string): boolean =>
  request !== null && (name in request.userinfo || name in request.id_token)
