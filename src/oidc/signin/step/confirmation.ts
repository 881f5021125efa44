import { ACR_MFA } from '../../../model/sign-in-methods.ts'
import { listProofs } from '../../../sessions/proofs.ts'
import { isNamed } from '../../authorize/account-choice.ts'
import { satisfiesAcrRequest } from '../../model/acr.ts'
import { listAcceptableAuthentications } from '../../model/authentication.ts'
import { selectCountingProofs } from '../../model/organization-demands.ts'
import type { SignInStep } from './sign-in-step.ts'

/** Why a signed-in user signs in again: the sign-in is too weak or too long ago, for a client or an account page. */
export type ConfirmationReason = 'stronger' | 'recent' | 'account'

/**
 * Why the first page asks a signed-in user for a confirmation; null when it asks for a sign-in of anybody, of another
 * user, of a new one, or of a user who has just signed in for the request. Pure.
 */
export function selectConfirmation({
  interaction: { request, progress },
  authorization: { signInState: state, next, secondFactor, organization },
}: SignInStep): ConfirmationReason | null {
  if (state === null || next.step !== 'login' || progress.isAnother || progress.sessionId === state.id)
    return null
  if (request.prompt.includes('create') || !isNamed(request, state)) return null
  const { claims } = request
  const acr = claims?.id_token.acr ?? null
  const demand = { claims, isTwoFactor: secondFactor.isRequired }
  const accepted = listAcceptableAuthentications(
    selectCountingProofs(organization, listProofs(state)),
    demand,
  )
  const isStrong = acr === null || accepted.some((one) => satisfiesAcrRequest(acr, one.acr))
  if (accepted.length === 0 || !isStrong) return 'stronger'
  return request.responseMode === 'account' ? 'account' : 'recent'
}

/** What users add on the account pages. */
export type FactorAddition = 'factor' | 'passkey'

/**
 * What the user has to add before a sign-in satisfies an organization, or the voluntary request of an `acr`; null when the user has it. Only a
 * browser knows whether the user has a passkey. Pure.
 */
export function selectAddition({
  call: { tenant },
  interaction: { request },
  authorization: { signInState: state, secondFactor, organization },
}: SignInStep): FactorAddition | null {
  const acr = request.claims?.id_token.acr ?? null
  if (organization?.signInMethods.join() === 'passkey') return 'passkey'
  if (acr === null || acr.essential) return null
  if (secondFactor.isUsable && satisfiesAcrRequest(acr, ACR_MFA))
    return state?.hasSecondFactor ? null : 'factor'
  return tenant.signInMethods.includes('passkey') ? 'passkey' : null
}
