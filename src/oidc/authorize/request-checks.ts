import type { CachedTenant } from '../../access/tenant-cache.ts'
import { PayloadTooLarge } from '../../core/errors.ts'
import { OAuthError } from '../../core/oauth-error.ts'
import type { AuthorizeRequest, PendingRedirect, ResponseTarget } from '../model/authorize-request.ts'
import { listSupportedPrompts } from '../model/prompts.ts'
import { readParameter } from '../model/request-parameters.ts'
import { listAllowedResources } from '../token/audience.ts'
import { verifyIdTokenHint } from '../token/id-tokens.ts'
import {
  type GivenRequest,
  type RequestRules,
  readClaims,
  readCodeChallenge,
  readDisplay,
  readDpopJkt,
  readIdpHint,
  readLoginHint,
  readMaxAge,
  readOrganization,
  readPrompts,
  readResources,
  readScopes,
  readUiLocales,
  rejectMachineClient,
  rejectRepeated,
  rejectUnsupported,
  requireCodeResponseType,
  requirePushedRequest,
  requireSupportedMode,
} from './parameter-checks.ts'
import {
  addRequestObjectTarget,
  type RequestingClient,
  rejectUnstorable,
  requireClient,
  requireReachableMode,
  requireRegisteredRedirect,
} from './response-target.ts'

/** Where the response is sent. Errors are not redirected (RFC 6749, section 4.1.2.1). */
function readResponseTarget(sent: URLSearchParams, requesting: RequestingClient | null): ResponseTarget {
  const params = addRequestObjectTarget(sent)
  rejectUnstorable(params)
  const client = requireClient(params, requesting)
  const redirectUri = requireRegisteredRedirect(params, client)
  const responseMode = requireReachableMode(params, client, redirectUri)
  return { clientId: client.id, redirectUri, state: readParameter(params, 'state'), responseMode }
}

/** The checks of the whole request, in their order. Their errors are sent to the redirect_uri. */
const CHECKS: readonly ((given: GivenRequest) => void)[] = [
  rejectRepeated,
  rejectMachineClient,
  requirePushedRequest,
  rejectUnsupported,
  requireCodeResponseType,
  requireSupportedMode,
]

/**
 * Checks and reads an authorize request (RFC 6749, section 4.1.1; OIDC Core, section 3.1.2.2), in this order: the first
 * check that fails decides the error. Throws OAuthError, with `redirect` false until the target is valid.
 */
export function readAuthorizeRequest(
  params: URLSearchParams,
  client: RequestingClient | null,
  rules: RequestRules,
): AuthorizeRequest {
  const target = readResponseTarget(params, client)
  const given = { params, client: client as RequestingClient, target, rules }
  for (const check of CHECKS) check(given)
  return {
    ...target,
    scopes: readScopes(given),
    nonce: readParameter(params, 'nonce'),
    codeChallenge: readCodeChallenge(given),
    prompt: readPrompts(given),
    display: readDisplay(given),
    maxAgeSeconds: readMaxAge(given),
    loginHint: readLoginHint(given),
    uiLocales: readUiLocales(given),
    idTokenHint: readParameter(params, 'id_token_hint'),
    idp: readIdpHint(given),
    resources: readResources(given),
    organization: readOrganization(given),
    claims: readClaims(given),
    dpopJkt: readDpopJkt(given),
  }
}

/**
 * Requests are stored while the user signs in, also for unauthenticated senders, so they are limited further
 * than forms.
 */
const MAX_REQUEST_CHARACTERS = 16_384

/**
 * Validates the parameters of an authorize request, sent by the browser or pushed. Throws OAuthError and
 * PayloadTooLarge.
 */
export async function validateParameters(
  tenant: CachedTenant,
  client: RequestingClient | null,
  params: URLSearchParams,
  { isPushed }: { isPushed: boolean },
): Promise<PendingRedirect> {
  if (params.toString().length > MAX_REQUEST_CHARACTERS) throw new PayloadTooLarge(MAX_REQUEST_CHARACTERS)
  const request = readAuthorizeRequest(params, client, {
    tenant: tenant.tenantId,
    resources: await listAllowedResources(tenant, params.getAll('resource')),
    prompts: listSupportedPrompts(tenant),
    defaultScopes: tenant.defaultScopes,
    isPushed,
  })
  const hint =
    request.idTokenHint === null ? null : await verifyIdTokenHint(tenant.tenantId, request.idTokenHint)
  return { ...request, idTokenHint: null, subjectHint: hint?.userId ?? null }
}

/** The error of a request, and the target that receives it. */
export type RejectedRequest = { error: OAuthError; target: ResponseTarget }

/**
 * Validates the parameters of an authorize request from the browser. Returns an error that may be sent to the redirect
 * URI; throws OAuthError and PayloadTooLarge otherwise.
 */
export async function checkParameters(
  tenant: CachedTenant,
  client: RequestingClient | null,
  params: URLSearchParams,
  sent: { isPushed: boolean },
): Promise<{ request: PendingRedirect } | RejectedRequest> {
  try {
    return { request: await validateParameters(tenant, client, params, sent) }
  } catch (error) {
    if (!(error instanceof OAuthError && error.redirect)) throw error
    return { error, target: readResponseTarget(params, client) }
  }
}
