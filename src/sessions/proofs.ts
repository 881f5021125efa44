import type { SecondFactorName, SignInMethodName } from '../core/sign-in-methods.ts'

/** A proof of the user's identity: the method or second factor, and its authentication methods (RFC 8176). */
export type NewProof = { method: SignInMethodName | SecondFactorName; amr: string[] }

/** A proof of a session, and when it was given. Plain JSON, since sessions store it. */
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
