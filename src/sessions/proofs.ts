import { SECOND_FACTORS, type SecondFactorName, type SignInMethodName } from '../model/sign-in-methods.ts'
import { computeAcr, isTwoFactorAcr } from './acr.ts'

/** A proof of the user's identity: the method or second factor, and its authentication methods (RFC 8176). */
export type NewProof = { method: SignInMethodName | SecondFactorName; amr: string[] }

/** A proof of a session, and when it was given. Plain JSON, since sessions store it. See docs/decisions/0071. */
export type SessionProof = NewProof & { at: string }

/** The proofs of a session. One that an earlier version started has that of its last sign-in. */
export const listProofs = ({
  proofs,
  amr,
  authenticatedAt,
}: {
  proofs: SessionProof[]
  amr: string[]
  authenticatedAt: Date
}): SessionProof[] =>
  proofs.length > 0 ? proofs : [{ method: 'passcode', amr, at: authenticatedAt.toISOString() }]

/** A proof as a session stores it. */
export const toSessionProof = ({ method, amr }: NewProof, now: Date): SessionProof => ({
  method,
  amr,
  at: now.toISOString(),
})

/** Whether a proof is a second factor. */
export const isSecondFactor = ({ method }: SessionProof): boolean =>
  (SECOND_FACTORS as readonly string[]).includes(method)

/**
 * Whether the user gave two factors at or after `since`: by one proof, such as a passkey, or by a first proof and a
 * second factor, both since then.
 */
export function hasTwoFactorsSince(proofs: readonly SessionProof[], since: Date): boolean {
  const recent = proofs.filter(({ at }) => new Date(at) >= since)
  const firsts = recent.filter((proof) => !isSecondFactor(proof))
  return (
    firsts.some(({ amr }) => isTwoFactorAcr(computeAcr(amr))) ||
    (firsts.length > 0 && recent.some(isSecondFactor))
  )
}
