import { AMR_BY_TRUSTED_ACR, type TrustedAcr } from '../entry-policy.fields.ts'

/** The part of a provider's policy about how its users authenticated. */
export type TrustPolicy = { trustAcr: unknown; trustAmr: readonly string[] }

const getAcrMap = ({ trustAcr }: TrustPolicy) => (trustAcr ?? {}) as Record<string, TrustedAcr>

const listTexts = (claim: unknown): string[] =>
  [claim].flat().filter((each): each is string => typeof each === 'string')

/**
 * The authentication methods to record for the claims of a verified ID token: the trusted values of `amr`, and
 * the method of the `acr` that a trusted `acr` stands for. Microsoft has its values in `acrs`. Others are not
 * taken over.
 */
export function listTrustedAmr(policy: TrustPolicy, claims: Record<string, unknown>): string[] {
  const map = getAcrMap(policy)
  const acrs = [...listTexts(claims.acr), ...listTexts(claims.acrs)].filter((acr) => Object.hasOwn(map, acr))
  const methods = listTexts(claims.amr).filter((method) => policy.trustAmr.includes(method))
  return [...new Set([...methods, ...acrs.map((acr) => AMR_BY_TRUSTED_ACR[map[acr] as TrustedAcr])])]
}

/** All methods that may be recorded for a provider. */
export const listPossibleAmr = (policy: TrustPolicy): string[] => [
  ...policy.trustAmr,
  ...Object.values(getAcrMap(policy)).map((acr) => AMR_BY_TRUSTED_ACR[acr]),
]

/** The provider's `acr` values that stand for an `acr` here that is wanted. */
export const listUpstreamAcrs = (policy: TrustPolicy, isWanted: (acr: string) => boolean): string[] =>
  Object.entries(getAcrMap(policy)).flatMap(([upstream, acr]) => (isWanted(acr) ? [upstream] : []))
