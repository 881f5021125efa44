import type { H3 } from 'h3'
import { addRoute, type TenantCall } from '../../access/endpoint.http.ts'
import { Forbidden, InvalidInput, RateLimited } from '../../core/errors.ts'
import { OAuthError } from '../../core/oauth-error.ts'
import { addSeconds } from '../../core/time.ts'
import { readForm } from '../../http/request-body.ts'
import { buildCookie, INTERACTION_COOKIE, SESSION_COOKIE } from '../../pages/cookies.ts'
import { isCsrfToken } from '../../pages/csrf.ts'
import { addCookies, renderErrorPage } from '../../pages/responses.http.ts'
import { RejectedCode } from '../../passcodes/passcodes.ts'
import { BROWSER_LIFETIME_SECONDS } from '../../sessions/sessions.ts'
import { createStepError } from '../authorize/step-error.ts'
import {
  clearInputRejection,
  INTERACTION_LIFETIME_SECONDS,
  type InputRejection,
  setInputRejection,
} from '../interactions/interactions.ts'
import { selectCompletion } from './completion.http.ts'
import { buildKnownBrowserCookies } from './known-browsers.ts'
import {
  clearAddress,
  completeSignIn,
  continueAsUser,
  grantConsent,
  requestSignInCode,
  switchUser,
} from './sign-in.ts'
import {
  createExpiredSignInError,
  getCsrfBinding,
  loadSignInStep,
  redirectToPage,
  renderSignInPage,
  SIGN_IN_PAGES,
  SIGN_IN_PATHS,
  type SignInPage,
} from './sign-in-step.http.ts'
import type { SignInStep } from './sign-in-step.ts'

/**
 * The hosted sign-in pages. Each request decides anew which page is next, so that the back button, repeated
 * submissions and several tabs lead to a valid page.
 */
export function addSignInRoutes(app: H3): void {
  for (const page of SIGN_IN_PAGES)
    addRoute(
      app,
      `/:tenant/signin/:handle${SIGN_IN_PATHS[page]}`,
      { GET: (call) => showSignInPage(call, page), POST: (call) => handleForm(call, page) },
      renderErrorPage,
      'authorize.refused',
    )
}

async function showSignInPage(call: TenantCall, requestedPage: SignInPage): Promise<Response> {
  const signIn = await loadSignInStep(call)
  const { interaction, authorization } = signIn
  const { key } = interaction
  const cookies = [buildCookie(call.ctx.tenant, INTERACTION_COOKIE, key, INTERACTION_LIFETIME_SECONDS)]
  const { next } = authorization
  if (next.step === 'issue') return completeAuthorization(signIn, cookies)
  if (next.step === 'error')
    return selectCompletion(signIn).reject(
      createStepError(next, interaction.request, authorization, signIn.sessionToken !== null),
      // Progress comes from forms of the pages.
      { hasSeenPage: Object.keys(interaction.progress).length > 0 },
    )
  const page = selectPage(signIn, requestedPage)
  if (page !== requestedPage) return redirectToPage(signIn, page, cookies)
  if (interaction.progress.refusal) await clearInputRejection(call.ctx.tenant, interaction)
  return addCookies(renderSignInPage(signIn, requestedPage), cookies)
}

/**
 * The page to show. During sign-in both pages are available, so that the back button leads from the code to
 * the address.
 */
function selectPage({ interaction, authorization }: SignInStep, requestedPage: SignInPage): SignInPage {
  const { step } = authorization.next
  if (step === 'consent' || step === 'select') return step
  return requestedPage === 'code' && interaction.progress.address ? 'code' : 'email'
}

async function completeAuthorization(signIn: SignInStep, cookies: string[]): Promise<Response> {
  const answer = await selectCompletion(signIn).complete()
  if (!answer) throw createExpiredSignInError()
  return addCookies(answer, cookies)
}

type FormHandler = (signIn: SignInStep, form: Record<string, string>) => Promise<Response>

/** The handlers of the pages' forms by next step of the sign-in and the form's `step`. */
const FORM_HANDLERS: Record<string, Record<string, FormHandler>> = {
  login: { email: handleAddress, code: handleCode, resend: resendCode, restart: restartSignIn },
  select: { continue: keepAccount, switch: switchAccount },
  consent: { allow: allowConsent, deny: denyConsent, switch: switchAccount },
}

async function handleForm(call: TenantCall, page: SignInPage): Promise<Response> {
  const form = await readForm(call.event)
  const signIn = await loadSignInStep(call)
  if (!isCsrfToken(form.csrf, 'signin', ...getCsrfBinding(signIn, page)))
    throw new Forbidden('This page was out of date. Go back, reload it and try again.')
  // Also when another tab has continued: the user who cancels must not be signed in.
  if (form.step === 'cancel') return cancelSignIn(signIn)
  const forms = FORM_HANDLERS[signIn.authorization.next.step] ?? {}
  // A repeated submission, or one of an earlier page: continue with the current page.
  if (!Object.hasOwn(forms, form.step ?? '')) return redirectToPage(signIn)
  return (forms[form.step as string] as FormHandler)(signIn, form)
}

/** Converts an error of a rejected input; rethrows any other error. */
function toInputRejection(error: unknown): Pick<InputRejection, 'reason' | 'retryAt'> {
  if (error instanceof InvalidInput) return { reason: 'address' }
  if (error instanceof RejectedCode) return { reason: error.problem }
  if (error instanceof RateLimited)
    return { reason: 'attempts', retryAt: addSeconds(new Date(), error.retryAfterSeconds).toISOString() }
  throw error
}

/**
 * Stores the rejection and redirects to the page that shows it: if it were the response to the form, the back
 * button would submit the form again.
 */
async function rejectInput(
  signIn: SignInStep,
  page: InputRejection['page'],
  error: unknown,
  details: Pick<InputRejection, 'entered'> = {},
): Promise<Response> {
  await setInputRejection(signIn.call.ctx.tenant, signIn.interaction, {
    page,
    ...toInputRejection(error),
    ...details,
  })
  return redirectToPage(signIn, page)
}

const readCookies = ({ call }: SignInStep): string | null => call.event.req.headers.get('cookie')

async function sendCode(
  signIn: SignInStep,
  address: string,
  page: InputRejection['page'],
): Promise<Response> {
  try {
    await requestSignInCode(signIn.call.ctx, signIn.interaction, address, readCookies(signIn))
  } catch (error) {
    return rejectInput(signIn, page, error, page === 'email' ? { entered: address } : {})
  }
  return redirectToPage(signIn, 'code')
}

async function handleAddress(signIn: SignInStep, form: Record<string, string>): Promise<Response> {
  return sendCode(signIn, (form.address ?? '').trim(), 'email')
}

async function resendCode(signIn: SignInStep): Promise<Response> {
  const { address } = signIn.interaction.progress
  return address ? sendCode(signIn, address, 'code') : redirectToPage(signIn)
}

async function restartSignIn(signIn: SignInStep): Promise<Response> {
  await clearAddress(signIn.call.ctx, signIn.interaction)
  return redirectToPage(signIn)
}

async function handleCode(signIn: SignInStep, form: Record<string, string>): Promise<Response> {
  const { call, interaction, authorization } = signIn
  const { ctx } = call
  const { address } = interaction.progress
  if (!address) return redirectToPage(signIn)
  let token: string
  try {
    const sessionId = authorization.signInState?.id ?? null
    token = await completeSignIn(ctx, interaction, form.code ?? '', sessionId)
  } catch (error) {
    return rejectInput(signIn, 'code', error)
  }
  return redirectToPage(signIn, 'email', [
    buildCookie(ctx.tenant, SESSION_COOKIE, token, BROWSER_LIFETIME_SECONDS),
    ...buildKnownBrowserCookies(ctx.tenant, address, readCookies(signIn)),
  ])
}

async function allowConsent(signIn: SignInStep): Promise<Response> {
  await grantConsent(signIn.call.ctx, signIn.interaction, signIn.authorization)
  return redirectToPage(signIn)
}

async function denyConsent(signIn: SignInStep): Promise<Response> {
  return selectCompletion(signIn).reject(new OAuthError('access_denied', 'The user did not consent.'), {
    hasSeenPage: true,
  })
}

async function cancelSignIn(signIn: SignInStep): Promise<Response> {
  return selectCompletion(signIn).reject(new OAuthError('access_denied', 'The user canceled the sign-in.'), {
    hasSeenPage: true,
  })
}

async function keepAccount(signIn: SignInStep): Promise<Response> {
  await continueAsUser(signIn.call.ctx, signIn.interaction)
  return redirectToPage(signIn)
}

async function switchAccount(signIn: SignInStep): Promise<Response> {
  await switchUser(signIn.call.ctx, signIn.interaction)
  return redirectToPage(signIn)
}
