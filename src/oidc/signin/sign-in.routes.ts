import type { H3 } from 'h3'
import { addRoute, type TenantCall } from '../../access/endpoint.http.ts'
import { Forbidden } from '../../core/errors.ts'
import { OAuthError } from '../../core/oauth-error.ts'
import { cleanTypedEmail } from '../../core/typed-text.ts'
import { readForm } from '../../http/request-body.http.ts'
import type { SignInProvider } from '../../idps/sign-in-providers.ts'
import { isCsrfToken } from '../../pages/csrf.ts'
import { addCookies, renderErrorPage } from '../../pages/responses.http.ts'
import { createStepError } from '../authorize/step-error.ts'
import { buildInteractionCookie } from '../interactions/browser-binding.ts'
import { clearInputRejection } from '../interactions/input-rejections.ts'
import { createExpiredSignInError, type Interaction } from '../interactions/interactions.ts'
import { ACCOUNT_FORMS, CHOOSE_FORMS, removeAccount, switchAccount } from './account-forms.http.ts'
import { selectCompletion } from './completion.http.ts'
import { openUsefulOffer } from './passkey/passkey-offer.ts'
import { PASSKEY_OFFER_FORMS, readBrowserAbilities } from './passkey/passkey-offer-forms.http.ts'
import { findAutomaticProvider, findProviderByAddress } from './provider/provider-choice.ts'
import { leadToProvider } from './provider/provider-forms.http.ts'
import { renderSignInPage } from './render-step.http.ts'
import {
  isSecondFactorPage,
  RECOVERY_CODES_FORMS,
  SECOND_FACTOR_FORMS,
} from './second-factor/second-factor-forms.http.ts'
import { listMethodForms, listOfferedMethods } from './sign-in-methods.http.ts'
import { SIGN_UP_FORMS } from './sign-up/sign-up-forms.http.ts'
import { renderFinishedPage } from './step/finished-sign-in.http.ts'
import { readCredentialId } from './step/presented-passkey.ts'
import { answerEndOnce, answerFormOnce, findEndAnswer, findFormAnswer } from './step/repeated-forms.http.ts'
import { toSentForm } from './step/sent-forms.ts'
import { grantConsent } from './step/sign-in.ts'
import type { FormHandler } from './step/sign-in-method.http.ts'
import {
  findSignInStep,
  getCsrfBinding,
  readPathClient,
  readPathHandle,
  redirectToPage,
  SIGN_IN_PAGES,
  SIGN_IN_PATHS,
  type SignInPageName,
} from './step/sign-in-step.http.ts'
import type { SignInStep } from './step/sign-in-step.ts'
import { readStayChoice } from './step/stay-choice.ts'
import { TERMS_FORMS } from './terms/terms-forms.http.ts'

/**
 * The hosted sign-in pages. Each request decides anew which page is next, so that the back button, repeated
 * submissions and several tabs lead to a valid page.
 */
export function addSignInRoutes(app: H3): void {
  for (const page of SIGN_IN_PAGES)
    addRoute(
      app,
      `/:tenant/signin/:handle${SIGN_IN_PATHS[page]}`,
      {
        GET: (call) => showSignInPage(call, page),
        // The page answers the request when nothing is left to ask.
        HEAD: null,
        POST: (call) => handleForm(call, page),
      },
      renderErrorPage,
      'authorize.refused',
    )
}

async function showSignInPage(call: TenantCall, requestedPage: SignInPageName): Promise<Response> {
  const signIn = await findSignInStep(call)
  if (!signIn)
    return (await findEndAnswer(call, readPathHandle(call))) ?? renderFinishedPage(call, readPathClient(call))
  const { interaction, authorization } = signIn
  const cookies = [buildInteractionCookie(call.ctx.tenant, interaction.handle, interaction.key)]
  const { next } = authorization
  if (next.step === 'issue' && !hasCodesToSave(signIn) && !(await openUsefulOffer(signIn)))
    return completeAuthorization(signIn, cookies)
  if (next.step === 'error')
    return answerEndOnce(signIn, () =>
      selectCompletion(signIn).reject(
        createStepError(next, interaction.request, authorization, signIn.tokens.length > 0),
        // Progress comes from forms of the pages.
        { hasSeenPage: hasProgressOfPages(interaction) },
      ),
    )
  const page = selectPage(signIn, requestedPage)
  if (page !== requestedPage) return redirectToPage(signIn, page, cookies)
  const provider = page === 'email' ? findProviderInstead(signIn) : null
  if (provider) return addCookies(await leadToProvider(signIn, provider, { after: 'link' }), cookies)
  if (interaction.progress.refusal) await clearInputRejection(call.ctx.tenant, interaction)
  return addCookies(await renderSignInPage(signIn, requestedPage), cookies)
}

/** Whether the user has submitted a form. A redirect to a provider before the first page does not count. */
const hasProgressOfPages = ({ progress: { provider: _, isLed: __, ...progress } }: Interaction): boolean =>
  Object.keys(progress).length > 0

/** The provider to which the browser is sent instead of the first page; null where the page is shown. */
function findProviderInstead(signIn: SignInStep): SignInProvider | null {
  const forms = Object.keys(listMethodForms(signIn))
  const isOnlyMethod = listOfferedMethods(signIn).length === 1
  return forms.includes('provider') ? findAutomaticProvider(signIn, isOnlyMethod) : null
}

/**
 * The page to show. During sign-in both pages are available, so that the back button leads from the code to
 * the address. Once an address without a user is proven, its account is created or another address is entered.
 */
function selectPage(signIn: SignInStep, requestedPage: SignInPageName): SignInPageName {
  const { interaction, authorization } = signIn
  const { step } = authorization.next
  if (hasCodesToSave(signIn)) return 'recovery-codes'
  if (step === 'consent' || step === 'select' || step === 'terms') return step
  if (step === 'second-factor') return isSecondFactorPage(requestedPage) ? requestedPage : 'second-factor'
  if (step === 'issue') return 'passkey'
  if (interaction.progress.provenAddress) return 'create'
  const hasCode = interaction.progress.address !== undefined && 'code' in listMethodForms(signIn)
  return requestedPage === 'code' && hasCode ? 'code' : 'email'
}

/** A signed-in user saves the new recovery codes before anything else. */
const hasCodesToSave = ({ interaction, authorization }: SignInStep): boolean =>
  interaction.progress.recoveryCodes !== undefined &&
  ['issue', 'consent', 'select'].includes(authorization.next.step)

const completeAuthorization = (signIn: SignInStep, cookies: string[]): Promise<Response> =>
  answerEndOnce(signIn, async () => {
    const answer = await selectCompletion(signIn).complete()
    if (!answer) throw createExpiredSignInError()
    return addCookies(answer, cookies)
  })

/** The handlers of the forms that follow the sign-in, by next step and the form's `step`. */
const FORM_HANDLERS: Record<string, Record<string, FormHandler>> = {
  select: ACCOUNT_FORMS,
  consent: { allow: allowConsent, deny: denyConsent, switch: switchAccount },
  'second-factor': SECOND_FACTOR_FORMS,
  terms: { ...TERMS_FORMS, switch: switchAccount },
  issue: PASSKEY_OFFER_FORMS,
}

async function handleForm(call: TenantCall, page: SignInPageName): Promise<Response> {
  const form = await readForm(call.event)
  const sent = toSentForm(call, readPathHandle(call), page, form)
  const loaded = await findSignInStep(call, readPathHandle(call), readCredentialId(form))
  if (!loaded || !isCsrfToken(form.csrf, 'signin', ...getCsrfBinding(loaded, page))) {
    // What the form did may have ended the sign-in, or have made its token out of date.
    const answer = await findFormAnswer(sent)
    if (answer) return answer
    if (!loaded) return renderFinishedPage(call, readPathClient(call))
    throw new Forbidden('This page was out of date. Go back, reload it and try again.')
  }
  const signIn = { ...readStayChoice(readBrowserAbilities(loaded, form), form), sent }
  // One statement signs in by a passkey and keeps the response: its form is claimed where that is not enough.
  const { passkey } = listForms(signIn)
  if (form.step === 'passkey' && passkey) return passkey(signIn, form)
  return answerFormOnce(sent, () => dispatchForm(signIn, form))
}

async function dispatchForm(signIn: SignInStep, form: Record<string, string>): Promise<Response> {
  // Also when another tab has continued: the user who cancels must not be signed in.
  if (form.step === 'cancel') return cancelSignIn(signIn)
  if (form.step === 'remove') return removeAccount(signIn, form)
  const forms = listForms(signIn)
  // A repeated submission, or one of an earlier page: continue with the current page.
  if (!Object.hasOwn(forms, form.step ?? '')) return redirectToPage(signIn)
  const provider =
    form.step === 'email' && 'provider' in forms ? findProviderByAddress(signIn, form.address ?? '') : null
  if (provider)
    return leadToProvider(signIn, provider, { after: 'form', loginHint: cleanTypedEmail(form.address ?? '') })
  return (forms[form.step as string] as FormHandler)(signIn, form)
}

/** The handlers of the forms of the current step. */
function listForms(signIn: SignInStep): Record<string, FormHandler> {
  const { step } = signIn.authorization.next
  if (step === 'login') return { ...listMethodForms(signIn), ...SIGN_UP_FORMS, ...CHOOSE_FORMS }
  return hasCodesToSave(signIn) ? RECOVERY_CODES_FORMS : (FORM_HANDLERS[step] ?? {})
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
