import type { SessionProof } from '../../sessions/proofs.ts'
import { computeAcr, getStrength, satisfiesAcrRequest } from './acr.ts'
import { type ClaimsRequest, isAcceptableAcr } from './claims-request.ts'

/** The authentication that a response is about (OIDC Core, section 2). */
export type Authentication = { amr: string[]; acr: string; authenticatedAt: Date }

/** What a request demands of the authentication. */
export type AuthenticationDemand = {
  claims: ClaimsRequest | null
  /** The earliest acceptable time; null for any. */
  since: Date | null
}

/** The authentications that the proofs of a session amount to. */
const listAuthentications = (proofs: readonly SessionProof[]): Authentication[] =>
  proofs.map(({ amr, at }) => ({ amr, acr: computeAcr(amr), authenticatedAt: new Date(at) }))

/** The authentications of a session whose `acr` the request accepts. */
export const listAcceptableAuthentications = (
  proofs: readonly SessionProof[],
  claims: ClaimsRequest | null,
): Authentication[] => listAuthentications(proofs).filter(({ acr }) => isAcceptableAcr(claims, acr))

/**
 * The authentication to report: of those that the request accepts, one with a requested `acr`, then the
 * strongest, then the newest. Null when the request accepts none.
 */
export function selectAuthentication(
  proofs: readonly SessionProof[],
  { claims, since }: AuthenticationDemand,
): Authentication | null {
  const rank = ({ acr, authenticatedAt }: Authentication) => [
    Number(satisfiesAcrRequest(claims?.id_token.acr ?? null, acr)),
    getStrength(acr),
    authenticatedAt.getTime(),
  ]
  return (
    listAcceptableAuthentications(proofs, claims)
      .filter(({ authenticatedAt }) => since === null || authenticatedAt >= since)
      .sort((one, other) => compareNumbers(rank(other), rank(one)))[0] ?? null
  )
}

/** Compares two lists of numbers by their first difference. */
const compareNumbers = (one: number[], other: number[]): number =>
  one.map((value, index) => value - (other[index] as number)).find((difference) => difference !== 0) ?? 0
