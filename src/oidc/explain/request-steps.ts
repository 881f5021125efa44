import type { CachedClient } from '../../access/client-cache.ts'
import { OAuthError } from '../../core/oauth-error.ts'
import { isAssignableScope, parseScopeList } from '../../core/scopes.ts'
import {
  type GivenRequest,
  type RequestRules,
  readClaims,
  readCodeChallenge,
  readDpopJkt,
  readMaxAge,
  readPrompts,
  readResources,
  readScopes,
  rejectMachineClient,
  rejectRepeated,
  rejectUnsupported,
  requireCodeResponseType,
  requirePushedRequest,
  requireSupportedMode,
} from '../authorize/parameter-checks.ts'
import { toWebOrigin } from '../authorize/response-modes.ts'
import {
  addRequestObjectTarget,
  rejectUnstorable,
  requireClient,
  requireReachableMode,
  requireRegisteredRedirect,
} from '../authorize/response-target.ts'
import { readParameter } from '../model/request-parameters.ts'
import { parseRequestedResources } from '../model/requested-resources.ts'
import type { SignInCheck, SignInRemedy, SignInRule, SignInStep } from './sign-in-explanation.fields.ts'

type RequestCheck = {
  check: SignInCheck
  rule: SignInRule
  /** The check of the authorization endpoint. Throws OAuthError. */
  run: (given: GivenRequest) => unknown
  /** What it is about: by default, the parameter of the request. */
  parameter?: string
  list?: (given: GivenRequest) => string[]
  /** The words for a request that passes; without them, such a request has no step. */
  describe?: (given: GivenRequest) => string | null
  remedy?: (given: GivenRequest) => Partial<SignInRemedy> & Pick<SignInRemedy, 'action'>
  /** The rule, where it depends on the request. */
  select?: (given: GivenRequest) => SignInRule
}

const toTarget = (given: GivenRequest): GivenRequest => ({
  ...given,
  params: addRequestObjectTarget(given.params),
})
const getRedirectUri = (given: GivenRequest): string =>
  readParameter(toTarget(given).params, 'redirect_uri') ?? ''

/** Requested scopes that an administrator can assign to the client. */
const listUnassignedScopes = ({ params, client }: GivenRequest): string[] =>
  parseScopeList(readParameter(params, 'scope') ?? '').filter(
    (scope) => isAssignableScope(scope) && !client.scopes.includes(scope),
  )

/** The checks of an authorize request, in the order of the endpoint; see readAuthorizeRequest. */
const CHECKS: readonly RequestCheck[] = [
  { check: 'parameters', rule: 'request', run: (given) => rejectUnstorable(toTarget(given).params) },
  {
    check: 'client',
    rule: 'client',
    run: (given) => requireClient(toTarget(given).params, given.client),
    parameter: 'client_id',
    describe: () => 'The client is registered.',
  },
  {
    check: 'redirect-uri',
    rule: 'clientCallbacks',
    run: (given) => requireRegisteredRedirect(toTarget(given).params, given.client),
    list: (given) => [getRedirectUri(given)].filter(Boolean),
    describe: () => 'The redirect_uri is registered.',
    remedy: (given) =>
      getRedirectUri(given)
        ? { action: 'add-redirect-uri', targetId: given.client.id, value: getRedirectUri(given) }
        : { action: 'change-request', parameter: 'redirect_uri', value: given.client.callbacks[0] ?? null },
  },
  {
    check: 'response-mode',
    rule: 'clientWebOrigins',
    run: (given) => requireReachableMode(toTarget(given).params, given.client, getRedirectUri(given)),
    parameter: 'response_mode',
    remedy: (given) => {
      const value = toWebOrigin(getRedirectUri(given))
      return value === null
        ? { action: 'change-request', parameter: 'response_mode' }
        : { action: 'add-web-origin', targetId: given.client.id, value }
    },
  },
  { check: 'parameters', rule: 'request', run: rejectRepeated },
  {
    check: 'client',
    rule: 'clientAppType',
    run: rejectMachineClient,
    parameter: 'client_id',
    remedy: () => ({ action: 'choose-client' }),
  },
  {
    check: 'pushed-request',
    rule: 'clientRequirePushedRequests',
    run: requirePushedRequest,
    list: () => [],
    describe: ({ client }) => (client.requirePushedRequests ? 'The request is pushed.' : null),
    remedy: () => ({ action: 'push-request' }),
  },
  { check: 'parameters', rule: 'request', run: rejectUnsupported },
  {
    check: 'response-type',
    rule: 'request',
    run: requireCodeResponseType,
    parameter: 'response_type',
    remedy: () => ({ action: 'change-request', parameter: 'response_type', value: 'code' }),
  },
  {
    check: 'response-mode',
    rule: 'request',
    run: requireSupportedMode,
    parameter: 'response_mode',
    describe: ({ params }) => (params.has('response_mode') ? 'The response_mode is supported.' : null),
    remedy: () => ({ action: 'change-request', parameter: 'response_mode' }),
  },
  {
    check: 'scope',
    rule: 'clientScopes',
    run: readScopes,
    parameter: 'scope',
    describe: (given) => {
      const left = listUnassignedScopes(given)
      return left.length > 0
        ? `The client may not request ${left.join(' ')}: ignored.`
        : 'The client may request the scopes.'
    },
    remedy: (given) => {
      const [value] = listUnassignedScopes(given)
      return value === undefined
        ? { action: 'change-request', parameter: 'scope', value: 'openid' }
        : { action: 'assign-scope', targetId: given.client.id, value }
    },
  },
  {
    check: 'pkce',
    rule: 'clientAppType',
    select: ({ client, params }) =>
      params.has('code_challenge') || params.has('code_challenge_method')
        ? 'request'
        : client.appType === 'web'
          ? 'clientRequirePkce'
          : 'clientAppType',
    run: readCodeChallenge,
    parameter: 'code_challenge_method',
    describe: ({ params }) =>
      params.has('code_challenge') ? 'The request has a code_challenge.' : 'The client need not use PKCE.',
    remedy: ({ params }) => ({
      action: 'change-request',
      ...(params.get('code_challenge_method') !== 'S256' && params.has('code_challenge')
        ? { parameter: 'code_challenge_method', value: 'S256' }
        : { parameter: 'code_challenge', value: null }),
    }),
  },
  {
    check: 'prompt',
    rule: 'request',
    select: ({ params }) =>
      parseScopeList(readParameter(params, 'prompt') ?? '').includes('create') ? 'tenantSignUp' : 'request',
    run: readPrompts,
    parameter: 'prompt',
    describe: ({ params }) => (params.has('prompt') ? 'The prompt is supported.' : null),
    remedy: ({ params, rules }) =>
      parseScopeList(readParameter(params, 'prompt') ?? '').includes('create') &&
      !rules.prompts.includes('create')
        ? { action: 'open-sign-up' }
        : { action: 'change-request', parameter: 'prompt' },
  },
  {
    check: 'max-age',
    rule: 'request',
    run: readMaxAge,
    parameter: 'max_age',
    remedy: () => ({ action: 'change-request', parameter: 'max_age' }),
  },
  {
    check: 'resource',
    rule: 'resources',
    run: readResources,
    parameter: 'resource',
    describe: ({ params }) => (params.has('resource') ? 'The APIs are known.' : null),
    remedy: ({ params, rules }) => {
      const unknown = readRequested(rules.tenant, params).find(
        (resource) => !rules.resources.includes(resource),
      )
      return unknown === undefined
        ? { action: 'change-request', parameter: 'resource' }
        : { action: 'declare-resource', value: unknown }
    },
  },
  {
    check: 'claims',
    rule: 'request',
    run: readClaims,
    list: () => [],
    describe: ({ params }) => (params.has('claims') ? 'The claims parameter is valid.' : null),
    remedy: () => ({ action: 'change-request', parameter: 'claims' }),
  },
  {
    check: 'dpop',
    rule: 'request',
    run: readDpopJkt,
    list: () => [],
    remedy: () => ({ action: 'change-request', parameter: 'dpop_jkt' }),
  },
]

function readRequested(tenant: string, params: URLSearchParams): string[] {
  try {
    return parseRequestedResources(tenant, params)
  } catch {
    return []
  }
}

const listValues = ({ list, parameter }: RequestCheck, given: GivenRequest): string[] =>
  list?.(given) ?? (parameter === undefined ? [] : given.params.getAll(parameter).filter(Boolean))

/** A step of a parameter that the authorization endpoint rejects. */
export const createFailedStep = (
  step: Pick<SignInStep, 'check' | 'rule' | 'values'>,
  { error, message }: OAuthError,
  remedy: (Partial<SignInRemedy> & Pick<SignInRemedy, 'action'>) | null,
): SignInStep => ({
  ...step,
  outcome: 'failed',
  error,
  description: message,
  remedy: remedy && { targetId: null, parameter: null, value: null, ...remedy },
})

function runCheck(check: RequestCheck, given: GivenRequest): SignInStep | null {
  const step = {
    check: check.check,
    rule: check.select?.(given) ?? check.rule,
    values: listValues(check, given),
  }
  try {
    check.run(given)
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error
    return createFailedStep(step, error, check.remedy?.(given) ?? { action: 'change-request' })
  }
  const description = check.describe?.(given) ?? null
  if (description === null) return null
  const left = check.check === 'scope' ? listUnassignedScopes(given) : []
  return {
    ...step,
    outcome: 'passed',
    error: null,
    description,
    remedy:
      left[0] === undefined
        ? null
        : { action: 'assign-scope', targetId: given.client.id, parameter: null, value: left[0] },
  }
}

/**
 * The checks of an authorize request, each with its outcome, of which the first that failed is the error that the client
 * gets. They are those of `readAuthorizeRequest`, but none hides the following ones. Pure.
 */
export function listRequestSteps(
  params: URLSearchParams,
  client: CachedClient | null,
  rules: RequestRules,
): SignInStep[] {
  const given: GivenRequest = {
    params,
    client: client as CachedClient,
    target: { clientId: client?.id ?? '', redirectUri: '', state: null, responseMode: 'query' },
    rules,
  }
  given.target.redirectUri = getRedirectUri(given)
  const steps: SignInStep[] = []
  for (const check of CHECKS) {
    const step = runCheck(check, given)
    if (step) steps.push(step)
    // Nothing else can be said about a client that is not known.
    if (step?.check === 'client' && step.rule === 'client' && step.outcome === 'failed') break
  }
  // A check of several parts has a step of its failed parts, or else one.
  return steps.filter(
    ({ check, outcome }, index) =>
      outcome === 'failed' ||
      !steps.some((other, at) => other.check === check && (other.outcome === 'failed' || at < index)),
  )
}

/** The S256 challenge of a plain request (RFC 7636, section 4.2). */
const PLAIN_CHALLENGE = '47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU'

/** The request that a client sends when it asks for nothing in particular. */
export const buildPlainRequest = ({
  id,
  callbacks: [redirectUri = ''],
}: Pick<CachedClient, 'id' | 'callbacks'>): URLSearchParams =>
  new URLSearchParams({
    client_id: id,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'openid profile email',
    code_challenge: PLAIN_CHALLENGE,
    code_challenge_method: 'S256',
  })
