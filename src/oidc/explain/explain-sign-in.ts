import { type CachedClient, findClient } from '../../access/client-cache.ts'
import { requireScope } from '../../access/require-scope.ts'
import { type CachedTenant, findTenant } from '../../access/tenant-cache.ts'
import type { Ctx } from '../../context/context.ts'
import { InvalidInput } from '../../core/errors.ts'
import { OAuthError } from '../../core/oauth-error.ts'
import type { Scope } from '../../core/scopes.ts'
import { listEvents } from '../../events/list.ts'
import type { LogEvent } from '../../events/log.ts'
import { listClientMappings, SCOPES_OF_SOURCES } from '../../model/claim-mappings.ts'
import { findSignInLimits } from '../../passcodes/sign-in-limits.ts'
import { parseInput } from '../../schema/input-shapes.ts'
import { findRequestTerms } from '../authorize/evaluate-request.ts'
import { validateParameters } from '../authorize/request-checks.ts'
import { selectOrganizations } from '../authorize/sign-in-state.sql.ts'
import { ACCOUNT_PAGES_ID, EMPTY_REQUEST, type PendingRequest } from '../model/authorize-request.ts'
import { listSupportedPrompts } from '../model/prompts.ts'
import { readParameter } from '../model/request-parameters.ts'
import { computeAudience, listAllowedResources } from '../token/audience.ts'
import { findMappedMembers } from '../token/granted-user.sql.ts'
import { buildIdTokenClaims, buildUserinfoClaims } from '../token/user-claims.ts'
import { selectExplainedUser } from './explained-user.sql.ts'
import { buildPlainRequest, createFailedStep, listRequestSteps } from './request-steps.ts'
import { type Explained, ExplainInput, type SignInStep } from './sign-in-explanation.fields.ts'
import type { ExplainedUser } from './user-methods.ts'
import { explainLock, listUserSteps, type Walk } from './user-steps.ts'

/** An explanation, with the event of the rejected request that it began with. */
export type SignInExplanation = Explained & { event: LogEvent | null }

/** What is explained, after the event of a rejected request was read. */
type Given = {
  userId: string | null
  clientId: string | null
  params: URLSearchParams | null
  /** The address of the user; any is assumed without one. */
  ip: string | undefined
  /** Parameters of a plain request that the event has. */
  known: Record<string, string>
  isPushed: boolean | null
  event: LogEvent | null
}

/** The events of a rejected request of a sign-in. */
const REJECTIONS = ['authorize.refused', 'signin.failed']

/** Parameters of an authorize request among the diagnostics of its rejection. */
function readKnownParameters({ type, detail }: LogEvent): Record<string, string> {
  if (type !== 'authorize.refused') return {}
  const { member, given, scope, prompt, response_mode } = (detail ?? {}) as Record<string, unknown>
  return Object.fromEntries(
    Object.entries({
      redirect_uri: member === 'callbacks' ? given : null,
      scope,
      prompt,
      response_mode,
    }).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  )
}

const findClientSubject = ({ subjectIds, detail }: LogEvent): string | null => {
  const claimed = (detail as { client_id?: unknown } | null)?.client_id
  return (
    subjectIds.find((id) => id.startsWith('client_') || id.includes(':')) ??
    (claimed ? String(claimed) : null)
  )
}

/** Reads a URL or a query string. */
function parseRequest(text: string): URLSearchParams {
  const given = text.trim()
  return URL.canParse(given) && given.includes('?')
    ? new URL(given).searchParams
    : new URLSearchParams(given.replace(/^[?&]/, ''))
}

const createMissingError = () =>
  new InvalidInput([{ field: 'userId', description: 'or clientId, request or requestId is required' }])

/** Reads the input, and the event of a rejected request. Throws InvalidInput and Forbidden. */
async function readGiven(ctx: Ctx, input: unknown): Promise<Given> {
  const { userId, clientId, request, transport, requestId, ip } = parseInput(ExplainInput, input)
  if (!userId && !clientId && !request && !requestId) throw createMissingError()
  if (requestId) requireScope(ctx, 'events:read')
  if (userId) requireScope(ctx, 'users:read')
  if (clientId || request) requireScope(ctx, 'clients:read')
  const params = request ? parseRequest(request) : null
  const event = requestId ? await findRejection(ctx, requestId) : null
  // A caller who may not read the user or the client of an event gets the explanation without them.
  const permit = <Value>(scope: Scope, value: Value): Value | null => (ctx.scopes.has(scope) ? value : null)
  return {
    userId: userId ?? permit('users:read', event?.userId ?? null),
    clientId:
      clientId ??
      (params && readParameter(params, 'client_id')) ??
      permit('clients:read', event && findClientSubject(event)),
    params,
    ip: ip ?? undefined,
    known: event ? readKnownParameters(event) : {},
    isPushed: transport ? transport === 'pushed' : null,
    event,
  }
}

/** The first event about a rejection in a request. Throws InvalidInput without one. */
async function findRejection(ctx: Ctx, requestId: string): Promise<LogEvent> {
  const { rows } = await listEvents(ctx, {
    filter: { requestId, types: REJECTIONS },
    direction: 'asc',
    first: 1,
  })
  const [event] = rows
  if (event) return event
  throw new InvalidInput([
    { field: 'requestId', description: 'is not a request whose rejection is in the event log' },
  ])
}

/** The request as the authorization endpoint reads it, and its checks; `request` is null for a rejected one. */
type ReadRequest = { steps: SignInStep[]; params: URLSearchParams | null; request: PendingRequest | null }

async function readRequest(tenant: CachedTenant, given: Given): Promise<ReadRequest> {
  if (given.clientId === null) {
    const request = {
      ...EMPTY_REQUEST,
      responseMode: 'account',
      clientId: ACCOUNT_PAGES_ID,
      returnTo: '',
    } as const
    return { steps: [], params: null, request }
  }
  // Metadata documents are not fetched: nothing is stored.
  const client = await findClient(tenant.tenantId, given.clientId)
  const plain = buildPlainRequest(client ?? { id: given.clientId, callbacks: [] })
  for (const [name, value] of Object.entries(given.known)) plain.set(name, value)
  const params = given.params ?? plain
  if (!params.has('client_id')) params.set('client_id', given.clientId)
  const isPushed = given.isPushed ?? (given.params === null && client?.requirePushedRequests === true)
  return { params, ...(await checkRequest(tenant, client, params, isPushed)) }
}

async function checkRequest(
  tenant: CachedTenant,
  client: CachedClient | null,
  params: URLSearchParams,
  isPushed: boolean,
): Promise<Pick<ReadRequest, 'steps' | 'request'>> {
  const steps = listRequestSteps(params, client, {
    tenant: tenant.tenantId,
    resources: await listAllowedResources(tenant, params.getAll('resource')),
    prompts: listSupportedPrompts(tenant),
    defaultScopes: tenant.defaultScopes,
    isPushed,
  })
  if (steps.some(({ outcome }) => outcome === 'failed')) return { steps, request: null }
  try {
    return { steps, request: await validateParameters(tenant, client, params, { isPushed }) }
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error
    // The other checks have passed.
    const step = createFailedStep({ check: 'id-token-hint', rule: 'request', values: [] }, error, {
      action: 'change-request',
      parameter: 'id_token_hint',
    })
    return { steps: [...steps, step], request: null }
  }
}

/** The user with what the caller may read; null when there is none. */
export async function findExplainedUser(
  ctx: Ctx,
  userId: string,
  clientId: string | null,
  demand: PendingRequest['organization'],
): Promise<ExplainedUser | null> {
  const [row, organizations, [found]] = await Promise.all([
    selectExplainedUser(ctx.db, userId, clientId),
    selectOrganizations(ctx.db, userId, demand),
    findSignInLimits(ctx.db, [userId]),
  ])
  return (
    row && {
      ...row,
      organizations,
      hasPasskey: ctx.scopes.has('credentials:read') ? row.hasPasskey : null,
      linkedIdpIds: ctx.scopes.has('idps:read') ? row.linkedIdpIds : null,
      limits: found?.limits ?? [],
    }
  )
}

const NO_USER: SignInStep = {
  check: 'user',
  outcome: 'failed',
  rule: 'user',
  values: [],
  error: null,
  description: 'There is no such user: the user was deleted.',
  remedy: null,
}

/** What the client gets at the end of a sign-in. */
type Answer = Pick<Explained, 'scopes' | 'audience' | 'idTokenClaims' | 'userinfoClaims'>
const NO_ANSWER: Answer = { scopes: [], audience: [], idTokenClaims: null, userinfoClaims: null }

/** The client as the caller may see its answers: without the claims that it reads from what the caller may not read. */
const selectReadableMappings = (ctx: Ctx, client: CachedClient): CachedClient => ({
  ...client,
  groupsClaim: false,
  claimMappings: listClientMappings(client).filter(({ source }) =>
    SCOPES_OF_SOURCES[source].every((scope) => ctx.scopes.has(scope)),
  ),
})

async function describeAnswer(
  ctx: Ctx,
  tenant: CachedTenant,
  client: CachedClient | null,
  request: PendingRequest,
  { user }: ExplainedUser,
  { state }: Walk,
): Promise<Answer> {
  if (!client) return NO_ANSWER
  const { claims, resources } = request
  const { scopes } = state
  const audience = computeAudience(tenant, scopes, resources)
  if (!scopes.includes('openid')) return { ...NO_ANSWER, scopes, audience }
  const mappedUser = {
    ...user,
    ...(await findMappedMembers(ctx, client.claimMappings, user.id, state.organization?.id ?? null)),
    consentedClaims: state.claims,
  }
  return {
    scopes,
    audience,
    idTokenClaims: buildIdTokenClaims(client, mappedUser, { scopes, claims }).claims,
    userinfoClaims: buildUserinfoClaims(client, mappedUser, { scopes, claims }).claims,
  }
}

const hasFailed = (steps: readonly SignInStep[]): boolean => steps.some(({ outcome }) => outcome === 'failed')

/**
 * Explains how a sign-in of a user at a client is decided, without effect: the checks of the request, the state of the
 * user, the methods, what the user is asked, and what the client gets. The browser has no session. Nothing is written.
 * Four statements at most, five with claims of roles, groups or the organization, besides those of caches. Throws InvalidInput and Forbidden. See docs/decisions/0158.
 */
export async function explainSignIn(ctx: Ctx, input: unknown): Promise<SignInExplanation> {
  const given = await readGiven(ctx, input)
  const tenant = (await findTenant(ctx.tenant)) as CachedTenant
  const { steps, params, request } = await readRequest(tenant, given)
  const { userId, clientId, event } = given
  // Also the outcome says of which organizations the user is a member.
  if (userId !== null && request?.organization) requireScope(ctx, 'organizations:read')
  const found = userId === null ? null : await findExplainedUser(ctx, userId, clientId, request?.organization)
  const base = { userId, clientId, request: params?.toString() ?? null, event }
  const known = { ...base, ...NO_ANSWER }
  if (userId !== null) steps.push(found ? explainLock(found.user) : NO_USER)
  if (!request || (userId !== null && !found)) return { ...known, succeeds: false, steps }
  const terms = { ...(await findRequestTerms(ctx, request)), ip: given.ip }
  const user = listUserSteps({ request, terms, tenant }, found, new Date())
  const all = [...steps, ...user.steps]
  if (!found || !user.walk)
    return { ...known, succeeds: hasFailed(all) ? false : user.isUnknown ? null : !found, steps: all }
  const client = clientId === null ? null : await findClient(ctx.tenant, clientId)
  const readable = client && selectReadableMappings(ctx, client)
  return {
    ...base,
    ...(await describeAnswer(ctx, tenant, readable, request, found, user.walk)),
    succeeds: true,
    steps: all,
  }
}
