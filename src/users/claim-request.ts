import { isDeepStrictEqual } from 'node:util'

/** The request of one claim (OIDC Core, section 5.5.1); null requests it in the default manner. */
export type ClaimRequest = { essential?: boolean; value?: unknown; values?: unknown[] } | null

/** The values that the request names. */
export const listRequestedValues = (request: ClaimRequest): unknown[] => [
  ...(request?.values ?? []),
  ...(request && 'value' in request ? [request.value] : []),
]

/**
 * Whether a claim with this value satisfies the request: any value does, unless the request names values
 * (section 5.5.1).
 */
export function isAcceptableValue(request: ClaimRequest, value: unknown): boolean {
  const named = listRequestedValues(request)
  return named.length === 0 || named.some((one) => isDeepStrictEqual(one, value))
}
