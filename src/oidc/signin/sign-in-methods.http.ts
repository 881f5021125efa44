import type { SignInMethodName } from '../../core/sign-in-methods.ts'
import { PASSCODE_METHOD } from './passcode/passcode-forms.http.ts'
import { PASSKEY_METHOD } from './passkey/passkey-forms.http.ts'
import { PROVIDER_METHOD } from './provider/provider-forms.http.ts'
import { offersMethod } from './step/offered-methods.ts'
import type { FormHandler, SignInMethod } from './step/sign-in-method.http.ts'
import type { SignInStep } from './step/sign-in-step.ts'

const METHODS_BY_NAME: Record<SignInMethodName, SignInMethod> = {
  passcode: PASSCODE_METHOD,
  passkey: PASSKEY_METHOD,
  provider: PROVIDER_METHOD,
}

/** The methods of the tenant that lead to an `acr` that the request accepts, in the order of the tenant. */
export const listOfferedMethods = (signIn: SignInStep): SignInMethod[] =>
  (signIn.call.tenant.signInMethods as SignInMethodName[])
    .filter((name) => offersMethod(signIn, name))
    .map((name) => METHODS_BY_NAME[name])

/** The handlers of the forms of the offered methods. */
export const listMethodForms = (signIn: SignInStep): Record<string, FormHandler> =>
  Object.fromEntries(listOfferedMethods(signIn).flatMap(({ forms }) => Object.entries(forms)))
