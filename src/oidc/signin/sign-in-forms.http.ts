import type { TenantCall } from '../../access/endpoint.http.ts'
import { Forbidden } from '../../core/errors.ts'
import { OAuthError } from '../../core/oauth-error.ts'
import { readForm } from '../../http/request-body.http.ts'
import { isCsrfToken } from '../../pages/csrf.ts'
import type { SignInPageName } from '../interactions/progress.ts'
import { ACCOUNT_FORMS, CHOOSE_FORMS, removeAccount, switchAccount } from './account-forms.http.ts'
import { selectCompletion } from './completion.http.ts'
import { CONSENT_FORMS } from './consent-forms.http.ts'
import { ORGANIZATION_FORMS } from './organization-forms.http.ts'
import { RECOVERY_CODES_FORMS, SECOND_FACTOR_FORMS } from './second-factor/second-factor-forms.http.ts'
import { ALL_METHODS, listMethodForms, listOfferedMethods, readMethodForm } from './sign-in-methods.http.ts'
import { hasCodesToSave } from './sign-in-pages.http.ts'
import { SIGN_UP_FORMS } from './sign-up/sign-up-forms.http.ts'
import { answerFormOnce, findFormAnswer, renderFinishedPage } from './step/repeated-forms.http.ts'
import { toSentForm } from './step/sent-forms.ts'
import type { FormHandler, FormHandlers } from './step/sign-in-method.http.ts'
import {
  findSignInStep,
  getCsrfBinding,
  readPathClient,
  readPathHandle,
  redirectToPage,
} from './step/sign-in-step.http.ts'
import type { SignInStep } from './step/sign-in-step.ts'
import { TERMS_FORMS } from './terms/terms-forms.http.ts'

/** The handlers of the forms that follow the sign-in, by next step and the form's `step`. */
const FORM_HANDLERS: Record<string, FormHandlers> = {
  select: ACCOUNT_FORMS,
  organization: ORGANIZATION_FORMS,
  consent: CONSENT_FORMS,
  'second-factor': SECOND_FACTOR_FORMS,
  terms: { ...TERMS_FORMS, switch: switchAccount },
  issue: Object.fromEntries(ALL_METHODS.flatMap(({ finalPage }) => Object.entries(finalPage?.forms ?? {}))),
}

/** The handlers of the forms of the current step. */
function listForms(signIn: SignInStep): FormHandlers {
  const { step } = signIn.authorization.next
  if (step === 'login') return { ...listMethodForms(signIn), ...SIGN_UP_FORMS, ...CHOOSE_FORMS }
  return hasCodesToSave(signIn) ? RECOVERY_CODES_FORMS : (FORM_HANDLERS[step] ?? {})
}

/** The handler of a form of the current step; null for a repeated submission, or one of an earlier page. */
function findHandler(signIn: SignInStep, step = ''): FormHandler | null {
  const forms = listForms(signIn)
  return Object.hasOwn(forms, step) ? (forms[step] ?? null) : null
}

/** Handles a form of a page. */
export async function handleForm(call: TenantCall, page: SignInPageName): Promise<Response> {
  const form = await readForm(call.event)
  const sent = toSentForm(call, readPathHandle(call), page, form)
  const loaded = await findSignInStep(call, readPathHandle(call), form)
  if (!loaded || !isCsrfToken(form.csrf, 'signin', ...getCsrfBinding(loaded, page))) {
    // What the form did may have ended the sign-in, or have made its token out of date.
    const answer = await findFormAnswer(sent)
    if (answer) return answer
    if (!loaded) return renderFinishedPage(call, readPathClient(call))
    throw new Forbidden('This page was out of date. Go back, reload it and try again.')
  }
  const signIn = { ...readMethodForm(loaded, form), sent }
  const claimsItself = ALL_METHODS.some((method) => method.claimsItself?.includes(form.step ?? ''))
  const handle = claimsItself ? findHandler(signIn, form.step) : null
  return handle ? handle(signIn, form) : answerFormOnce(sent, () => dispatchForm(signIn, form))
}

async function dispatchForm(signIn: SignInStep, form: Record<string, string>): Promise<Response> {
  // Also when another tab has continued: the user who cancels must not be signed in.
  if (form.step === 'cancel') return cancelSignIn(signIn)
  if (form.step === 'remove') return removeAccount(signIn, form)
  const handle = findHandler(signIn, form.step)
  if (!handle) return redirectToPage(signIn)
  const takers = signIn.authorization.next.step === 'login' ? listOfferedMethods(signIn) : []
  for (const { takeForm } of takers) {
    const response = await takeForm?.(signIn, form)
    if (response) return response
  }
  return handle(signIn, form)
}

async function cancelSignIn(signIn: SignInStep): Promise<Response> {
  return selectCompletion(signIn).reject(new OAuthError('access_denied', 'The user canceled the sign-in.'), {
    hasSeenPage: true,
  })
}
