import type { H3 } from 'h3'
import { findClient } from '../../access/client-cache.ts'
import type { TenantCall } from '../../access/endpoint.http.ts'
import { Forbidden } from '../../core/errors.ts'
import { OAuthError } from '../../core/oauth-error.ts'
import { getRequestMeta, readQuery } from '../../http/request.http.ts'
import { readForm, requireSingleParams } from '../../http/request-body.http.ts'
import { buildRemovalCookies, readSessionTokens } from '../../pages/account-cookies.ts'
import { buildCookie, buildExpiredCookie, listCookies, nameCookie, readCookie } from '../../pages/cookies.ts'
import { createCsrfToken, isCsrfToken } from '../../pages/csrf.ts'
import { listErrorFacts } from '../../pages/error-facts.ts'
import { LeavePage } from '../../pages/external-redirect.pages.tsx'
import { answerOnce, createSentForm, findAnswer } from '../../pages/form-answers.ts'
import { SignedOutPage, StillSignedInPage } from '../../pages/parts/outcome.pages.tsx'
import {
  addCookies,
  addPageRoute,
  addRefresh,
  redirectTo,
  renderComponent,
} from '../../pages/responses.http.ts'
import { buildInitiationUrl } from '../../pages/restart-url.ts'
import { endAccounts, findBrowserAccounts, type NamedAccount } from '../../sessions/browser-accounts.ts'
import { isUnreviewed } from '../model/unreviewed-clients.ts'
import { LogoutChoicePage, LogoutConfirmPage, UpstreamLogoutPage } from './logout.pages.tsx'
import { type LogoutRequest, parseLogoutRequest } from './logout.ts'
import { chooseLogout, type LogoutChoice, selectLogoutAccounts } from './logout-accounts.ts'
import { beginUpstreamLogout, openLogoutReturn, UPSTREAM_LOGOUT_SECONDS } from './upstream-logout.ts'

/** The end session endpoint (RP-Initiated Logout 1.0, section 2). */
export function addLogoutRoutes(app: H3): void {
  addPageRoute(
    app,
    '/:tenant/oidc/logout',
    { GET: handleLogout, HEAD: null, POST: handleLogoutPost },
    'authorize.refused',
  )
  addPageRoute(app, '/:tenant/oidc/logout/callback/:idp', { GET: handleUpstreamReturn }, 'authorize.refused')
}

/** The parameters of a logout request that are read (RP-Initiated Logout 1.0, section 2). */
const LOGOUT_PARAMETERS = [
  'client_id',
  'id_token_hint',
  'logout_hint',
  'post_logout_redirect_uri',
  'state',
  'ui_locales',
]

/** The path of a logout request. It has nothing else of what was sent. */
function buildLogoutPath(tenant: string, given: URLSearchParams): string {
  const kept = [...given].filter(([name]) => LOGOUT_PARAMETERS.includes(name))
  return `/${tenant}/oidc/logout${kept.length > 0 ? `?${new URLSearchParams(kept)}` : ''}`
}

const readCookies = ({ event }: TenantCall): string | null => event.req.headers.get('cookie')

const findCallAccounts = (call: TenantCall): Promise<NamedAccount[]> =>
  findBrowserAccounts(call.ctx.tenant, readSessionTokens(call.ctx.tenant, readCookies(call)))

const listActive = (accounts: readonly NamedAccount[]): NamedAccount[] =>
  accounts.filter(({ isActive }) => isActive)

const readLogoutRequest = async ({ ctx, event, setClient }: TenantCall): Promise<LogoutRequest> => {
  const query = readQuery(event)
  setClient(query.get('client_id'))
  return parseLogoutRequest(ctx.tenant, requireSingleParams(query))
}

/** Ends the session that the id_token_hint was issued in; otherwise asks the user. */
async function handleLogout(call: TenantCall): Promise<Response> {
  const accounts = await findCallAccounts(call)
  let request: LogoutRequest
  try {
    request = await readLogoutRequest(call)
  } catch (error) {
    const choice = chooseLogout(NO_HINTS, listActive(accounts))
    if (choice.step === 'end' || !(error instanceof OAuthError)) throw error
    await call.logRejection(error)
    return showQuestion(call, choice, { error })
  }
  const choice = chooseLogout(request, listActive(accounts))
  if (choice.step !== 'end') return showQuestion(call, choice, { request })
  return finishLogout(call, request, { accounts, ended: choice.accounts, after: 'link' })
}

const NO_HINTS = { hintedSessionId: null, hintedUserId: null, logoutHint: null }

const listIds = (accounts: readonly { id: string }[]): string[] => accounts.map(({ id }) => id).toSorted()

/** The CSRF token of a question, which names the sessions that it is about: they may end while the page is open. */
function createQuestionToken(tenant: string, asked: readonly NamedAccount[]): string {
  const ids = listIds(asked)
  return [createCsrfToken('logout', tenant, ...ids), ...ids].join('.')
}

/** The sessions that the question of a form is about; null for a form that this server did not make. */
function readQuestionToken(tenant: string, given: string): string[] | null {
  const [token, ...ids] = given.split('.')
  return isCsrfToken(token, 'logout', tenant, ...ids) ? ids : null
}

/**
 * Asks for a confirmation, or which account to sign out. An invalid request must not leave the user signed in: the form
 * has nothing from it.
 */
function showQuestion(
  { event, tenant, ctx }: TenantCall,
  choice: Exclude<LogoutChoice, { step: 'end' }>,
  { request, error }: { request?: LogoutRequest; error?: OAuthError },
): Response {
  const asked = choice.step === 'confirm' ? [choice.account] : choice.accounts
  const { client = null, returnTo = null } = request ?? {}
  const common = {
    tenant,
    client,
    interaction: {
      action: buildLogoutPath(ctx.tenant, request ? readQuery(event) : new URLSearchParams()),
      csrf: createQuestionToken(ctx.tenant, asked),
    },
    error: error && {
      detail: error.message,
      facts: listErrorFacts(error),
      requestId: getRequestMeta(event).requestId,
    },
  }
  const options = {
    ...(error && { status: 400 }),
    leadsElsewhere: returnTo !== null,
  }
  return choice.step === 'confirm'
    ? renderComponent(
        ctx,
        LogoutConfirmPage,
        { ...common, person: choice.account, account: choice.account.id },
        options,
      )
    : renderComponent(ctx, LogoutChoicePage, { ...common, accounts: choice.accounts }, options)
}

/**
 * Handles the form of the question, which carries a CSRF token. Any other POST is a client's request: it comes
 * from another site, so without the cookie, and is redirected to a GET, which has it.
 */
async function handleLogoutPost(call: TenantCall): Promise<Response> {
  const form = await readForm(call.event)
  const { tenant } = call.ctx
  if (form.csrf === undefined) return redirectTo(buildLogoutPath(tenant, new URLSearchParams(form)))
  const request = await readLogoutRequest(call)
  const accounts = await findCallAccounts(call)
  const active = listActive(accounts)
  const asked = readQuestionToken(tenant, form.csrf)
  const isAsked = asked !== null && [undefined, 'all', ...asked].includes(form.account)
  const named = isAsked
    ? selectLogoutAccounts(active, form.account).filter(({ id }) => asked.includes(id))
    : []
  const sent = createSentForm(call, ['logout', tenant, ...listIds(accounts)], form, ['sid'])
  // The form may have signed out.
  const repeated = named.length > 0 ? null : await findAnswer(sent)
  if (repeated) return repeated
  // Such as by the same form, which had another owner then, or in another tab.
  if (form.step === 'logout' && isAsked && named.length === 0)
    return showSignedOut(call, request, [], active.length > 0)
  if (active.length > 0 && !isAsked)
    throw new Forbidden('This page was out of date. Go back, reload it and try again.')
  const finish = () => finishLogout(call, request, { accounts, ended: named, after: 'form' })
  if (active.length === 0) return finish()
  const answer = async () => (form.step === 'logout' ? finish() : showStillSignedIn(call, request))
  return (await answerOnce(sent, answer)).response
}

/** The user stays signed in. Redirecting to the client would indicate the opposite. */
const showStillSignedIn = ({ tenant, ctx }: TenantCall, { client }: LogoutRequest): Response =>
  renderComponent(ctx, StillSignedInPage, { tenant, client, startAt: buildInitiationUrl(ctx.tenant, client) })

type Departure = {
  /** The accounts of the browser, and those of them that end. */
  accounts: readonly NamedAccount[]
  ended: readonly NamedAccount[]
  /** How the browser leaves: after a form by a page, because form-action applies to redirects. */
  after: 'form' | 'link'
}

/**
 * The cookies that go: those of the ended accounts, and all of them when nobody is signed in any more. A form of another
 * site comes without cookies, and must not end the one that the browser has.
 */
function buildEndCookies(call: TenantCall, { accounts, ended }: Departure): string[] {
  const { tenant } = call.ctx
  const cookies = readCookies(call)
  const isLast = listActive(accounts).length === ended.length
  if (!isLast) return buildRemovalCookies(tenant, cookies, ended)
  const current = listCookies(cookies, (name) => name === nameCookie('sid', tenant)).keys()
  return [
    ...new Set([...[...current].map(buildExpiredCookie), ...buildRemovalCookies(tenant, cookies, accounts)]),
  ]
}

async function finishLogout(
  call: TenantCall,
  request: LogoutRequest,
  departure: Departure,
): Promise<Response> {
  const { tenant, ctx } = call
  const { client, returnTo } = request
  const { accounts, ended, after } = departure
  const cookies = buildEndCookies(call, departure)
  await endAccounts(ctx, ended, client?.id)
  const target = { clientId: client?.id ?? null, returnTo }
  for (const { id } of ended) {
    // A browser can be sent to one provider.
    const upstream = await beginUpstreamLogout(ctx, tenant.idps, id, target)
    if (upstream) return leaveForProvider(call, client, { ...upstream, after, cookies })
  }
  // Without a session, the user has neither confirmed nor signed in at the client, as far as is known.
  if (returnTo && client && ended.length === 0 && isUnreviewed(client))
    return addCookies(renderComponent(ctx, LeavePage, { tenant, client, url: returnTo }), cookies)
  return showSignedOut(call, request, cookies, listActive(accounts).length > ended.length)
}

/** Sends the browser to the logout at the provider that the session came from. */
function leaveForProvider(
  { tenant, ctx }: TenantCall,
  client: LogoutRequest['client'],
  {
    url,
    name,
    browserToken,
    after,
    cookies,
  }: { url: string; name: string; browserToken: string; after: Departure['after']; cookies: string[] },
): Response {
  const binding = buildCookie(nameCookie('out', ctx.tenant), browserToken, UPSTREAM_LOGOUT_SECONDS)
  const all = [...cookies, binding]
  if (after === 'link') return redirectTo(url, all)
  const page = renderComponent(ctx, UpstreamLogoutPage, { tenant, client, name, url })
  return addCookies(addRefresh(page, url), all)
}

/** The user comes back from the logout at a provider. A `state` of another browser leads nowhere. */
async function handleUpstreamReturn(call: TenantCall): Promise<Response> {
  const { event, ctx } = call
  const { state = '' } = requireSingleParams(event.url.searchParams)
  const browserToken = readCookie(event.req.headers.get('cookie'), nameCookie('out', ctx.tenant))
  const target = openLogoutReturn(ctx.tenant, event.context.params?.idp ?? '', { state, browserToken })
  const client = target?.clientId ? await findClient(ctx.tenant, target.clientId) : null
  const returnTo = client ? (target?.returnTo ?? null) : null
  return showSignedOut(
    call,
    { client, returnTo },
    target ? [buildExpiredCookie(nameCookie('out', ctx.tenant))] : [],
  )
}

const showSignedOut = (
  { tenant, ctx }: TenantCall,
  { client, returnTo }: Pick<LogoutRequest, 'client' | 'returnTo'>,
  cookies: string[],
  hasOthers = false,
): Response =>
  returnTo
    ? redirectTo(returnTo, cookies)
    : addCookies(
        renderComponent(ctx, SignedOutPage, {
          tenant,
          client,
          startAt: buildInitiationUrl(ctx.tenant, client),
          hasOthers,
        }),
        cookies,
      )
