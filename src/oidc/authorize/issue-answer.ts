import type { CachedTenant } from '../../access/tenant-cache.ts'
import type { PendingRedirect } from '../model/authorize-request.ts'
import { issueCode } from '../token/authorization-codes.ts'
import type { AuthorizationState } from './evaluate-request.ts'
import { type AuthorizationResponse, buildCodeResponse } from './response-modes.ts'

/**
 * Issues a code and returns the response (RFC 6749, section 4.1.2); null unless the code is the next step. No statement.
 */
export function issueCodeResponse(
  tenant: CachedTenant,
  request: PendingRedirect,
  {
    next,
    client,
    signInState,
    scopes,
    organization,
  }: Pick<AuthorizationState, 'next' | 'client' | 'signInState' | 'scopes' | 'organization'>,
  now = new Date(),
): AuthorizationResponse | null {
  if (!signInState || next.step !== 'issue') return null
  const { authentication } = next
  const holder = { ...signInState, codeGeneration: signInState.codeGeneration + client.codeGeneration }
  const organizationId = organization?.id ?? null
  const code = issueCode(tenant, request, holder, { scopes, organizationId, authentication }, now)
  return buildCodeResponse(tenant.tenantId, request, code)
}
