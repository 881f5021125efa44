import type { TenantCall } from '../../../access/endpoint.http.ts'
import { buildAccountCookies, readSessionTokens } from '../../../pages/account-cookies.ts'
import { redirectTo } from '../../../pages/responses.http.ts'
import { listSurplusAccounts } from '../../../sessions/browser-accounts.ts'
import { selectCookieLifetime } from '../../../tenants/cookie-lifetime.ts'
import { evaluateRequest } from '../../authorize/evaluate-request.ts'
import { buildInteractionCookie, readInteractionKey } from '../../interactions/browser-binding.ts'
import { findInteraction, setInputRejection } from '../../interactions/interactions.ts'
import type { InputRejection, SignInPageName } from '../../interactions/progress.ts'
import { buildSignInPath, readSignInSegment } from '../../interactions/sign-in-path.ts'
import type { EnteredAccount, SignInStep } from './sign-in-step.ts'
import { findWithPasskey, readCredentialId } from './sign-in-step.ts'

/** The last segment of the path of a page, with its slash; the first page has none. */
export const toPageSuffix = (page: SignInPageName): string => (page === 'email' ? '' : `/${page}`)

const readSegment = ({ event }: TenantCall) => readSignInSegment(event.context.params?.handle ?? '')
export const readPathHandle = (call: TenantCall): string => readSegment(call).handle
export const readPathClient = (call: TenantCall): string | null => readSegment(call).clientId

/**
 * Loads and evaluates the sign-in with a handle, that of the path by default; null when this browser has none
 * with it. With a form that presents a passkey, loads that passkey too, in the same statement.
 */
export async function findSignInStep(
  call: TenantCall,
  handle = readPathHandle(call),
  form: Record<string, string> = {},
): Promise<SignInStep | null> {
  const { event, ctx } = call
  const cookies = event.req.headers.get('cookie')
  const tokens = readSessionTokens(ctx.tenant, cookies)
  const presented = { handle, cookie: readInteractionKey(ctx.tenant, handle, cookies) }
  const credentialId = readCredentialId(form)
  const found = credentialId === null ? null : await findWithPasskey(ctx.db, presented, credentialId)
  const interaction = found?.interaction ?? (await findInteraction(ctx.db, presented))
  if (!interaction) {
    // The page leads back to it.
    call.setClient(readPathClient(call))
    return null
  }
  call.setClient(interaction.request.clientId)
  const authorization = await evaluateRequest(ctx, interaction.request, interaction.progress, tokens)
  if (ctx.language) {
    ctx.language.uiLocales = interaction.request.uiLocales
    ctx.language.userLocale = authorization.signInState?.locale ?? null
  }
  return { call, interaction, authorization, tokens, sent: null, passkey: found?.passkey ?? null }
}

export const buildPagePath = ({ call, interaction }: SignInStep, page: SignInPageName): string =>
  buildSignInPath(call.ctx.tenant, interaction.handle, interaction.request.clientId) + toPageSuffix(page)

/** Redirects the browser to a page of the sign-in; without one, the page is decided anew. */
export const redirectToPage = (
  signIn: SignInStep,
  page: SignInPageName = 'email',
  cookies: string[] = [],
): Response => redirectTo(buildPagePath(signIn, page), cookies)

/**
 * The values that a page's CSRF token is bound to: the tenant, the interaction and the browser. Pages with a
 * decision add the session, since another tab may have signed in another user, and what was requested, since
 * the user's roles and the APIs of the tokens may have changed. The choice of an account names it.
 */
export function getCsrfBinding(
  { call, interaction, authorization }: SignInStep,
  page: SignInPageName,
): string[] {
  const isDecision = !['email', 'code', 'create', 'select'].includes(page)
  const { signInState: state, provenUser, scopes, claims, resources } = authorization
  const decision = isDecision
    ? [state?.id ?? '', scopes.join(' '), claims.join(' '), resources.join(' '), provenUser?.userId ?? '']
    : []
  return [call.ctx.tenant, interaction.handle, interaction.key, ...decision]
}

/** The cookies that make an account the current one of the browser; none without an account. */
export function buildSessionCookies(signIn: SignInStep, entered: EnteredAccount | null): string[] {
  if (!entered) return []
  const { accounts } = signIn.authorization
  const surplus = listSurplusAccounts(accounts, entered.userId)
  return buildAccountCookies(
    signIn.call.ctx.tenant,
    readCookies(signIn),
    entered,
    accounts.filter((account) => !surplus.includes(account)),
    selectCookieLifetime(signIn.call.tenant, signIn.interaction.progress.staySignedIn),
  )
}

/** The cookie after a proof, which binds the interaction to this browser alone. */
export const buildProofCookie = ({ call, interaction }: SignInStep): string =>
  buildInteractionCookie(call.ctx.tenant, interaction.handle, interaction.nextKey)

/** The cookies of the browser. */
export const readCookies = ({ call }: SignInStep): string | null => call.event.req.headers.get('cookie')

/**
 * Stores the rejection of an input and redirects to the page that shows it: if it were the response to the
 * form, the back button would submit the form again.
 */
export async function rejectInput(signIn: SignInStep, rejection: InputRejection): Promise<Response> {
  await setInputRejection(signIn.call.ctx.db, signIn.interaction, rejection)
  return redirectToPage(signIn, rejection.page)
}
