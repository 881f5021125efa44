import type { Handlers, TenantCall } from '../../access/endpoint.http.ts'
import { type Ctx, toUserCtx } from '../../context/context.ts'
import { Forbidden, StepUpRequired } from '../../core/errors.ts'
import { ACCOUNT_SCOPE, type Scope } from '../../core/scopes.ts'
import type { User } from '../../generated/prisma/client.ts'
import { readQuery } from '../../http/request.http.ts'
import { readForm, requireSingleParams } from '../../http/request-body.http.ts'
import { getRequestWords } from '../../languages/request-language.ts'
import { ACR_OTP } from '../../model/sign-in-methods.ts'
import { readSessionToken } from '../../pages/cookies.ts'
import { createCsrfToken, isCsrfToken } from '../../pages/csrf.ts'
import { answerOnce, createSentForm } from '../../pages/form-answers.ts'
import type { PageInteraction } from '../../pages/page-shell.pages.tsx'
import type { RenderOptions } from '../../pages/render-page.pages.tsx'
import { type PageComponent, redirectTo, renderComponent } from '../../pages/responses.http.ts'
import { type BrowserSession, findBrowserSession } from '../../sessions/sessions.ts'
import { readRoleScopes } from '../../users/roles.ts'
import { getUser } from '../../users/users.ts'
import { STEP_UP_MAX_AGE_SECONDS } from '../step-up.ts'
import type { AccountPageProps } from './account-shell.pages.tsx'
import { redirectToSignIn } from './account-sign-in.http.ts'
import {
  type FieldLabel,
  type Notice,
  type NoticeName,
  type PageProblem,
  toPageProblem,
} from './page-problem.ts'

/**
 * The context of an action on an account page: the signed-in user, with the scope `account` and the scopes of the
 * user's roles, because no application stands between the user and this server. It permits no more than a token
 * with every scope: the services still require a recent sign-in.
 */
function toAccountPageCtx(ctx: Ctx, ids: { userId: string; sessionId: string }, scopes: Set<Scope>): Ctx {
  const { actor, ...rest } = toUserCtx(ctx, ids)
  if (actor.kind !== 'user') throw new Error('the context of a user has no user')
  return {
    ...rest,
    actor: { ...actor, oidcScopes: new Set([ACCOUNT_SCOPE]) },
    scopes,
  }
}

/** A page with a form that needs a recent sign-in leaves this long to fill it in. */
const FORM_SECONDS = 5 * 60

/** A request of the signed-in user. `ctx` is that of the user. */
export type AccountVisit = {
  call: TenantCall
  ctx: Ctx
  user: User
  session: BrowserSession
  /** The path of the page, where its forms are posted, and their CSRF token. */
  form: PageInteraction
  /** What was done before the page was shown. */
  notice: Notice | null
}

/** Handles a form, whose fields it gets. */
type FormHandler = (visit: AccountVisit, form: Record<string, string>) => Promise<Response>

/** A page of a signed-in user: `path` follows `root`. */
export type AccountPage = {
  /** The path below the tenant; by default that of the account pages. */
  root?: string
  path: string
  /** The page is shown after a recent sign-in only. */
  needsRecentSignIn?: boolean
  show: (visit: AccountVisit, problem: PageProblem | null) => Promise<Response>
  /** The forms by their `step`. After one with a notice, the page is shown with it. */
  forms?: Record<
    string,
    FormHandler | [done: NoticeName, work: (...form: Parameters<FormHandler>) => Promise<unknown>]
  >
  /** Answers a form of another page of this server. It changes nothing, and needs no token. */
  view?: FormHandler
  /** How errors name the fields. */
  labels?: Record<string, FieldLabel>
}

/**
 * The handlers of an account page. Without a session they lead to the hosted sign-in and back. HEAD is rejected,
 * because GET may start a sign-in.
 */
export const createPageHandlers = (page: AccountPage): Handlers => ({
  GET: (call) => showPage(call, page),
  HEAD: null,
  ...(page.forms && { POST: (call) => handleForm(call, page) }),
  ...(page.view && { POST: (call) => handleView(call, page, page.view as FormHandler) }),
})

const toPath = ({ ctx }: TenantCall, { root = '/account', path }: AccountPage): string =>
  `/${ctx.tenant}${root}${path}`

/** The visit of the user who is signed in to this browser; null when nobody is. */
async function findVisit(call: TenantCall, page: AccountPage): Promise<AccountVisit | null> {
  const { event, ctx } = call
  const token = readSessionToken(event.req.headers.get('cookie'), ctx.tenant)
  const session = token && (await findBrowserSession(ctx.tenant, token, new Date(), ctx))
  if (!session) return null
  const user = await getUser(ctx, session.userId)
  if (ctx.language) ctx.language.userLocale = user.locale
  const action = toPath(call, page)
  const { done = '', proof } = requireSingleParams(readQuery(event))
  // Only what a form of this session did is said to be done.
  const isDone = isCsrfToken(proof, 'account-done', ctx.tenant, session.id, page.path, done)
  return {
    call,
    ctx: toAccountPageCtx(ctx, { userId: user.id, sessionId: session.id }, await readRoleScopes(ctx, user)),
    user,
    session,
    form: { action, csrf: createCsrfToken('account', ctx.tenant, session.id, page.path) },
    notice: isDone ? (`notice.${done}` as Notice) : null,
  }
}

/** Renders the page of a visit, with what every account page shows. */
export function renderVisit<Props extends AccountPageProps>(
  { call, ctx, user, form, notice }: AccountVisit,
  problem: PageProblem | null,
  component: PageComponent<Props>,
  props: NoInfer<Omit<Props, keyof AccountPageProps>> & Pick<AccountPageProps, 'messages'>,
  options: RenderOptions = {},
): Response {
  const { messages, status } = problem ?? {}
  const common = { tenant: call.tenant, form, timeZone: user.zoneinfo, notice, messages }
  return renderComponent(ctx, component, { ...common, ...props } as never, { status, ...options })
}

/** Leads to the account page at a path, with one of its notices. */
export function redirectToNotice({ ctx, session }: AccountVisit, path: string, done: NoticeName): Response {
  const proof = createCsrfToken('account-done', ctx.tenant, session.id, path, done)
  return redirectTo(`/${ctx.tenant}/account${path}?${new URLSearchParams({ done, proof })}`)
}

/**
 * Leads the user through a sign-in that is recent enough to fill in the form; a new one by a code or more, where an old
 * password alone is not enough. Two factors follow from the settings of the tenant.
 */
const redirectToRecentSignIn = (
  call: TenantCall,
  page: AccountPage,
  { userId }: BrowserSession,
  demanded: string | null = null,
) =>
  redirectToSignIn(call, toPath(call, page), {
    userId,
    ...(demanded === ACR_OTP && { acr: ACR_OTP, prompt: ['login'] }),
    maxAgeSeconds: STEP_UP_MAX_AGE_SECONDS - FORM_SECONDS,
  })

const isRecent = ({ authenticatedAt }: BrowserSession): boolean =>
  Date.now() - authenticatedAt.getTime() < (STEP_UP_MAX_AGE_SECONDS - FORM_SECONDS) * 1000

async function showPage(call: TenantCall, page: AccountPage): Promise<Response> {
  const visit = await findVisit(call, page)
  if (!visit) return redirectToSignIn(call, toPath(call, page))
  if (page.needsRecentSignIn && !isRecent(visit.session))
    return redirectToRecentSignIn(call, page, visit.session)
  try {
    return await page.show(visit, null)
  } catch (error) {
    if (error instanceof StepUpRequired)
      return redirectToRecentSignIn(call, page, visit.session, error.acrValues)
    throw error
  }
}

async function handleForm(call: TenantCall, page: AccountPage): Promise<Response> {
  const form = await readForm(call.event)
  const visit = await findVisit(call, page)
  if (!visit) return redirectToSignIn(call, toPath(call, page))
  // Also when another tab has signed in another user: the token is bound to the session.
  if (!isCsrfToken(form.csrf, 'account', call.ctx.tenant, visit.session.id, page.path))
    throw new Forbidden('This page was out of date. Go back, reload it and try again.')
  const { response } = await answerOnce(
    createSentForm(call, ['account', visit.session.id, page.path], form, ['sid']),
    () => dispatchForm(visit, page, form),
  )
  return response
}

/** Other sites, also those of the same domain, cannot choose what a page of this server says. */
async function handleView(call: TenantCall, page: AccountPage, view: FormHandler): Promise<Response> {
  if (call.event.req.headers.get('sec-fetch-site') !== 'same-origin')
    throw new Forbidden('This form is sent by pages of this server only.')
  const form = await readForm(call.event)
  const visit = await findVisit(call, page)
  return visit ? view(visit, form) : redirectToSignIn(call, toPath(call, page))
}

async function dispatchForm(
  visit: AccountVisit,
  page: AccountPage,
  form: Record<string, string>,
): Promise<Response> {
  const { call } = visit
  const forms = page.forms ?? {}
  const { csrf: _, step = '', ...values } = form
  const handle = Object.hasOwn(forms, step) ? forms[step] : undefined
  if (!handle) return redirectTo(toPath(call, page))
  try {
    if (typeof handle === 'function') return await handle(visit, values)
    const [done, work] = handle
    await work(visit, values)
    return redirectToNotice(visit, page.path, done)
  } catch (error) {
    if (error instanceof StepUpRequired)
      return redirectToRecentSignIn(call, page, visit.session, error.acrValues)
    const problem = toPageProblem(getRequestWords(call.ctx), error, page.labels ?? {}, values)
    if (!problem) throw error
    return page.show(visit, problem)
  }
}
