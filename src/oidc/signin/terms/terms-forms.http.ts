import { toUserCtx } from '../../../context/context.ts'
import { getRequestWords } from '../../../languages/request-language.ts'
import { renderComponent } from '../../../pages/responses.http.ts'
import { agreeToTerms, readTermsConsent } from '../../../sign-up/terms-consent.ts'
import { describeInputRejection } from '../step/input-rejection-texts.ts'
import type { FormHandlers, PageView } from '../step/sign-in-method.http.ts'
import { redirectToPage, rejectInput } from '../step/sign-in-step.http.ts'
import type { SignInStep } from '../step/sign-in-step.ts'
import { TermsPage } from './terms.pages.tsx'

/** The form of the terms of use, by `step`. */
export const TERMS_FORMS: FormHandlers = { agree: handleAgreement }

/** Renders the page that asks a signed-in user to agree to the terms of use. */
export function renderTerms(
  { call, authorization }: SignInStep,
  { common, rejection, options }: PageView,
): Response {
  const person = authorization.signInState ?? {}
  return renderComponent(
    call.ctx,
    TermsPage,
    {
      ...common,
      person,
      terms: call.tenant,
      isUpdate: Boolean(authorization.signInState?.termsVersion),
      error: rejection && describeInputRejection(getRequestWords(call.ctx), rejection),
    },
    options,
  )
}

async function handleAgreement(signIn: SignInStep, form: Record<string, string>): Promise<Response> {
  const { call, interaction, authorization } = signIn
  const { ctx, tenant } = call
  const { signInState: state } = authorization
  const { terms } = readTermsConsent(tenant, form)
  if (!state || !terms?.termsVersion) return rejectInput(signIn, { page: 'terms', reason: 'terms' })
  const { clientId } = interaction.request
  const userCtx = toUserCtx(ctx, { userId: state.userId, clientId, sessionId: state.id })
  await agreeToTerms(userCtx, state.userId, terms.termsVersion)
  return redirectToPage(signIn)
}
