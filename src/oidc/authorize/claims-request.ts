import { isDeepStrictEqual } from 'node:util'

/** How one claim is asked for (OIDC Core, section 5.5.1); null is the default manner. */
export type ClaimRequest = { essential?: boolean; value?: unknown; values?: unknown[] } | null

/** A checked claims parameter (OIDC Core, section 5.5): what is asked for in userinfo and in the ID token. */
export type ClaimsRequest = { userinfo: Record<string, ClaimRequest>; id_token: Record<string, ClaimRequest> }

/** Whether a claim may be answered with this value: with whichever it has, unless some are named (section 5.5.1). */
export function isAcceptable(request: ClaimRequest, value: unknown): boolean {
  const named = [...(request?.values ?? []), ...(request && 'value' in request ? [request.value] : [])]
  return named.length === 0 || named.some((one) => isDeepStrictEqual(one, value))
}

/** Whether this person is one that the request is about, as far as it asks for a `sub` (sections 3.1.2.2 and 5.5.1). */
export const isAbout = (claims: ClaimsRequest | null, userId: string): boolean =>
  [claims?.id_token.sub, claims?.userinfo.sub].every((request) => isAcceptable(request ?? null, userId))

/** Whether a sign-in of this class will do: only an essential `acr` with values forbids others (section 5.5.1.1). */
export function isAcrAcceptable(claims: ClaimsRequest | null, acr: string): boolean {
  const request = claims?.id_token.acr ?? null
  return !request?.essential || isAcceptable(request, acr)
}
