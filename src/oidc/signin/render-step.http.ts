import { listApiNames } from '../../access/declared-resources.ts'
import { listConsentItems } from '../../consents/consent-items.ts'
import { selectAccountLabel } from '../../credentials/registration.ts'
import { getRequestWords } from '../../languages/request-language.ts'
import { createCsrfToken } from '../../pages/csrf.ts'
import { createPart } from '../../pages/page-part.pages.tsx'
import type { RenderOptions } from '../../pages/render-page.pages.tsx'
import { renderComponent } from '../../pages/responses.http.ts'
import { listPasscodeChannels } from '../../passcodes/passcode-channels.ts'
import { canAddressSignUp, hasSignUp } from '../../passcodes/sign-up-policy.ts'
import { offersAccounts } from './account-forms.http.ts'
import { selectCompletion } from './completion.http.ts'
import { CodePage } from './passcode/code.pages.tsx'
import { computeResendAllowedAt } from './passcode/passcode-sign-in.ts'
import { renderPasskeyOffer } from './passkey/passkey-offer-forms.http.ts'
import { findPasskeySignal } from './passkey/passkey-signal.ts'
import { renderPendingLink } from './provider/provider-forms.http.ts'
import { renderRecoveryCodes, renderSecondFactor } from './second-factor/second-factor-forms.http.ts'
import { SelectAccountPage } from './select-account.pages.tsx'
import { SignInPage, StrongerSignInNote } from './sign-in.pages.tsx'
import { listOfferedMethods } from './sign-in-methods.http.ts'
import { renderSignUpPage } from './sign-up/sign-up-forms.http.ts'
import { selectAddition, selectConfirmation } from './step/confirmation.ts'
import { computeRetryAfter, describeInputRejection } from './step/input-rejection-texts.ts'
import { buildPagePath, getCsrfBinding, type SignInPageName } from './step/sign-in-step.http.ts'
import type { SignInStep } from './step/sign-in-step.ts'
import { renderTerms } from './terms/terms-forms.http.ts'

/** Renders a page with the error of the last input, if any. */
export async function renderSignInPage(signIn: SignInStep, page: SignInPageName): Promise<Response> {
  const { call, interaction, authorization } = signIn
  const { request, progress } = interaction
  const completion = selectCompletion(signIn)
  const form = {
    action: buildPagePath(signIn, page),
    csrf: createCsrfToken('signin', ...getCsrfBinding(signIn, page)),
  }
  const rejection = progress.refusal?.page === page ? progress.refusal : null
  const common = { tenant: call.tenant, client: authorization.client, interaction: form }
  const isLimited = rejection?.reason === 'attempts'
  const options: RenderOptions = {
    ...(isLimited && { status: 429, headers: { 'retry-after': computeRetryAfter(rejection) } }),
    leadsElsewhere: completion.leadsElsewhere,
    isPopup: request.display === 'popup',
  }
  const person = authorization.signInState ?? {}
  switch (page) {
    case 'select':
      return renderComponent(
        call.ctx,
        SelectAccountPage,
        { ...common, accounts: authorization.accounts },
        options,
      )
    case 'consent': {
      const { scopes, claims, resources } = authorization
      const accepted = await findPasskeySignal(signIn)
      return completion.renderConsent(
        {
          ...common,
          person,
          accepted,
          consentItems: listConsentItems(scopes, claims),
          apis: await listApiNames(call.ctx.tenant, resources, getRequestWords(call.ctx).language),
        },
        { ...options, runsScript: accepted !== null },
      )
    }
    case 'terms':
      return renderTerms(signIn, common, rejection, options)
    case 'create':
      return renderSignUpPage(signIn, form, rejection, options)
    case 'passkey':
      return renderPasskeyOffer(signIn, common, rejection, options)
    case 'second-factor':
    case 'recovery':
    case 'passkey-setup':
      return renderSecondFactor(signIn, page, common, rejection, options)
    case 'recovery-codes':
      return renderRecoveryCodes(signIn, common, options)
    case 'code':
      return renderComponent(
        call.ctx,
        CodePage,
        {
          ...common,
          error:
            rejection &&
            describeInputRejection(
              getRequestWords(signIn.call.ctx),
              rejection,
              listPasscodeChannels(call.tenant),
            ),
          address: progress.address ?? '',
          isSent: canAddressSignUp(call.tenant, progress.address ?? ''),
          isResent: progress.isResent,
          isUsedUp: rejection?.reason === 'expired' || rejection?.reason === 'exhausted',
          offersSignUp: hasSignUp(call.tenant),
          digits: progress.digits,
          resendAllowedAt: computeResendAllowedAt(progress),
          offersOtherWay: isLimited && call.tenant.signInMethods.length > 1,
        },
        // The submission of a complete code, and the countdown to a new one.
        { ...options, runsScript: true },
      )
    case 'email': {
      const reason = selectConfirmation(signIn)
      return renderComponent(
        call.ctx,
        SignInPage,
        {
          ...common,
          isError: rejection !== null,
          offersAccounts: offersAccounts(signIn),
          isCreation: request.prompt.includes('create') && hasSignUp(call.tenant),
          confirmation: reason && {
            reason,
            label: selectAccountLabel({ name: null, email: null, phoneNumber: null, ...person }),
            addition: reason === 'stronger' ? selectAddition(signIn) : null,
          },
          entries: [
            isTooWeak(signIn) ? createPart(StrongerSignInNote, { client: authorization.client }) : null,
            renderPendingLink(signIn, form),
            ...listOfferedMethods(signIn).map(({ renderEntry }) => renderEntry(signIn, form, rejection)),
          ],
        },
        // The passkey's part and the checkbox have scripts.
        {
          ...options,
          runsScript: call.tenant.signInMethods.includes('passkey') || call.tenant.staySignedIn === 'ask',
        },
      )
    }
  }
}

/** Whether the user has signed in for this request, but not by the `acr` that it demands. */
const isTooWeak = ({
  interaction: { progress },
  authorization: { signInState, next },
}: SignInStep): boolean =>
  next.step === 'login' && signInState !== null && progress.sessionId === signInState.id
