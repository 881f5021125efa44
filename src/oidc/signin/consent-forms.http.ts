import { listApiNames } from '../../access/declared-resources.ts'
import { listConsentItems } from '../../consents/consent-items.ts'
import { OAuthError } from '../../core/oauth-error.ts'
import { getRequestWords } from '../../languages/request-language.ts'
import { switchAccount } from './account-forms.http.ts'
import { selectCompletion } from './completion.http.ts'
import { findPasskeySignal } from './passkey/passkey-signal.ts'
import { grantConsent } from './step/sign-in.ts'
import type { FormHandlers, PageView } from './step/sign-in-method.http.ts'
import { redirectToPage } from './step/sign-in-step.http.ts'
import type { SignInStep } from './step/sign-in-step.ts'

/** The forms of the consent page. */
export const CONSENT_FORMS: FormHandlers = { allow: allowConsent, deny: denyConsent, switch: switchAccount }

/** Renders the page that asks for consent. */
export async function renderConsent(signIn: SignInStep, { common, options }: PageView): Promise<Response> {
  const { call, authorization } = signIn
  const { scopes, claims, resources, signInState, organization } = authorization
  const accepted = await findPasskeySignal(signIn)
  return selectCompletion(signIn).renderConsent(
    {
      ...common,
      person: signInState ?? {},
      organization: organization?.name,
      accepted,
      consentItems: listConsentItems(scopes, claims),
      apis: await listApiNames(call.ctx.tenant, resources, getRequestWords(call.ctx).language),
    },
    { ...options, runsScript: accepted !== null },
  )
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
