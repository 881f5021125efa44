import { isAcceptableAcr } from '../model/claims-request.ts'
import { PASSCODE_METHOD } from './passcode/passcode-forms.http.ts'
import { PASSKEY_METHOD } from './passkey/passkey-forms.http.ts'
import type { FormHandler, SignInMethod } from './sign-in-method.http.ts'
import type { SignInStep } from './sign-in-step.ts'

/** The sign-in methods, in the order of the first page. */
const SIGN_IN_METHODS: readonly SignInMethod[] = [PASSCODE_METHOD, PASSKEY_METHOD]

/** The methods whose `acr` the request accepts. */
export const listOfferedMethods = ({ interaction }: SignInStep): SignInMethod[] =>
  SIGN_IN_METHODS.filter(({ acr }) => isAcceptableAcr(interaction.request.claims, acr))

/** The handlers of the forms of the offered methods. */
export const listMethodForms = (signIn: SignInStep): Record<string, FormHandler> =>
  Object.fromEntries(listOfferedMethods(signIn).flatMap(({ forms }) => Object.entries(forms)))
