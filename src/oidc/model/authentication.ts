import { computeAcr, getStrength, isTwoFactorAcr } from '../../sessions/acr.ts'
import { isSecondFactor, type SessionProof } from '../../sessions/proofs.ts'
import { satisfiesAcrRequest } from './acr.ts'
import { type ClaimsRequest, isAcceptableAcr } from './claims-request.ts'

/** The authentication that a response is about (OIDC Core, section 2). */
export type Authentication = { amr: string[]; acr: string; authenticatedAt: Date }

/** What a request demands of the authentication. */
export type AuthenticationDemand = {
  claims: ClaimsRequest | null
  /** The earliest acceptable time; null for any. */
  since: Date | null
  /** Two factors are required. */
  isTwoFactor: boolean
}

const toAuthentication = ({ amr, at }: Pick<SessionProof, 'amr' | 'at'>): Authentication => ({
  amr,
  acr: computeAcr(amr),
  authenticatedAt: new Date(at),
})

/** A second factor proves nothing alone: it completes a first proof. The time is that of the older one. */
const combineProofs = (first: SessionProof, second: SessionProof): Authentication =>
  toAuthentication({
    amr: [...new Set([...first.amr, ...second.amr, 'mfa'])],
    at: [first.at, second.at].sort()[0] as string,
  })

/**
 * The authentications that the proofs of a session amount to: each first proof, and each that a second factor
 * completes. A passkey is two factors by itself.
 */
function listAuthentications(proofs: readonly SessionProof[]): Authentication[] {
  const firsts = proofs.filter((proof) => !isSecondFactor(proof))
  const seconds = proofs.filter(isSecondFactor)
  return [
    ...firsts.map(toAuthentication),
    ...firsts
      .filter(({ method }) => method !== 'passkey')
      .flatMap((first) => seconds.map((second) => combineProofs(first, second))),
  ]
}

/** The authentications of a session whose `acr` is acceptable. */
export const listAcceptableAuthentications = (
  proofs: readonly SessionProof[],
  { claims, isTwoFactor }: Omit<AuthenticationDemand, 'since'>,
): Authentication[] =>
  listAuthentications(proofs).filter(
    ({ acr }) => isAcceptableAcr(claims, acr) && (!isTwoFactor || isTwoFactorAcr(acr)),
  )

/**
 * The authentication to report: of those that the request accepts, one with a requested `acr`, then the
 * strongest, then the newest. Null when the request accepts none.
 */
export function selectAuthentication(
  proofs: readonly SessionProof[],
  { since, ...demand }: AuthenticationDemand,
): Authentication | null {
  const { claims } = demand
  const rank = ({ acr, authenticatedAt }: Authentication) => [
    Number(satisfiesAcrRequest(claims?.id_token.acr ?? null, acr)),
    getStrength(acr),
    authenticatedAt.getTime(),
  ]
  return (
    listAcceptableAuthentications(proofs, demand)
      .filter(({ authenticatedAt }) => since === null || authenticatedAt >= since)
      .sort((one, other) => compareNumbers(rank(other), rank(one)))[0] ?? null
  )
}

/** Compares two lists of numbers by their first difference. */
const compareNumbers = (one: number[], other: number[]): number =>
  one.map((value, index) => value - (other[index] as number)).find((difference) => difference !== 0) ?? 0
