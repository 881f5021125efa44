import { InvalidInput, Unavailable } from '../../core/errors.ts'
import type { ProviderCause } from '../../model/provider-causes.ts'

/** The cause of an error, and what was found, in words for administrators. Neither quotes a code, token or secret. */
export type Explanation = { cause: ProviderCause; diagnostics: string | null }

/** A provider that does not answer, or whose answer cannot be used. */
export class UnusableAnswer extends Unavailable {
  readonly explanation: Explanation

  constructor(explanation: Explanation, error?: unknown) {
    const { cause, diagnostics } = explanation
    super(
      'The identity provider did not respond, or its response is invalid; try again.',
      new Error([cause, diagnostics].filter(Boolean).join(': '), { cause: error }),
    )
    this.explanation = explanation
  }
}

/** A proof that the provider, or a check of what it signed, rejects. */
export class RejectedProof extends InvalidInput {
  readonly explanation: Explanation

  constructor(field: string, description: string, explanation: Explanation) {
    super([{ field, description }])
    this.explanation = explanation
  }
}

const MAX_DIAGNOSTICS_CHARACTERS = 300
/** Diagnostics may quote metadata of the provider, such as an issuer. */
const toDiagnostics = (text: string | null): string | null =>
  text?.replaceAll(/[^\x20-\x7e]+/g, ' ').slice(0, MAX_DIAGNOSTICS_CHARACTERS) ?? null

/** The error when a provider does not respond, or its response is invalid. */
export const toUnavailable = (
  cause: ProviderCause,
  diagnostics: string | null,
  error?: unknown,
): UnusableAnswer => new UnusableAnswer({ cause, diagnostics: toDiagnostics(diagnostics) }, error)

/** The error for a proof that does not hold. `description` is for callers of the API. */
export const rejectProof = (
  field: string,
  description: string,
  cause: ProviderCause,
  diagnostics: string | null = null,
): RejectedProof => new RejectedProof(field, description, { cause, diagnostics: toDiagnostics(diagnostics) })

/** The explanation of an error of this folder; null for any other error. */
export const findExplanation = (error: unknown): Explanation | null =>
  error instanceof UnusableAnswer || error instanceof RejectedProof ? error.explanation : null
