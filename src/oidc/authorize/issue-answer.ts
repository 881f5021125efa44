import type { Ctx } from '../../core/context.ts'
import { hashHandle, type Interaction } from '../interactions/interactions.ts'
import type { PendingRedirect } from '../model/authorize-request.ts'
import { issueCode } from '../token/authorization-codes.ts'
import type { AuthorizationState } from './evaluate-request.ts'
import { listConsentScopes } from './next-step.ts'
import { type AuthorizationResponse, buildCodeResponse } from './response-modes.ts'

/**
 * Issues a code, ends the interaction and returns the response (RFC 6749, section 4.1.2). Null when the
 * session has ended, the user is locked, a required consent was revoked, or another submission ended the
 * interaction.
 */
export async function issueCodeResponse(
  ctx: Ctx,
  request: PendingRedirect,
  { next, signInState: state, scopes, client }: AuthorizationState,
  interaction: Interaction | null,
): Promise<AuthorizationResponse | null> {
  if (!state || next.step !== 'issue') return null
  const code = await issueCode(ctx, request, state, {
    scopes,
    authentication: next.authentication,
    interactionHash: interaction && hashHandle(interaction),
    needsConsent: listConsentScopes({ requireConsent: client.requireConsent, scopes }).length > 0,
  })
  return code === null ? null : buildCodeResponse(ctx.tenant, request, code)
}
