import { selectAccountLabel } from '../../credentials/passkeys/registration.ts'
import { createPart } from '../../pages/parts/page-part.pages.tsx'
import { renderComponent } from '../../pages/responses.http.ts'
import { hasSignUp } from '../../passcodes/sign-up-policy.ts'
import { offersAccounts } from './account-forms.http.ts'
import { SignInPage, StrongerSignInNote } from './sign-in.pages.tsx'
import { renderMethods } from './sign-in-methods.http.ts'
import { selectAddition, selectConfirmation } from './step/confirmation.ts'
import type { PageView } from './step/sign-in-method.http.ts'
import type { SignInStep } from './step/sign-in-step.ts'

/** Renders the page with the parts of all methods that are offered. */
export function renderFirstPage(signIn: SignInStep, { common, rejection, options }: PageView): Response {
  const { call, interaction, authorization } = signIn
  const reason = selectConfirmation(signIn)
  const person = authorization.signInState ?? {}
  return renderComponent(
    call.ctx,
    SignInPage,
    {
      ...common,
      isError: rejection !== null,
      offersAccounts: offersAccounts(signIn),
      isCreation: interaction.request.prompt.includes('create') && hasSignUp(call.tenant),
      confirmation: reason && {
        reason,
        label: selectAccountLabel({ name: null, email: null, phoneNumber: null, ...person }),
      },
      addition: reason === 'stronger' || isTooWeak(signIn) ? selectAddition(signIn) : null,
      entries: [
        isTooWeak(signIn) ? createPart(StrongerSignInNote, { client: authorization.client }) : null,
        ...renderMethods(signIn, common.interaction, rejection),
      ],
    },
    // The passkey's part and the checkbox have scripts.
    {
      ...options,
      runsScript: call.tenant.signInMethods.includes('passkey') || call.tenant.staySignedIn === 'ask',
    },
  )
}

/** Whether the user has signed in for this request, but not by the `acr` that it demands. */
const isTooWeak = ({
  interaction: { progress },
  authorization: { signInState, next },
}: SignInStep): boolean =>
  next.step === 'login' && signInState !== null && progress.sessionId === signInState.id
