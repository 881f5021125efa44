import type { SignInMethodName } from '../../model/sign-in-methods.ts'
import type { PageInteraction } from '../../pages/page-shell.pages.tsx'
import type { PagePart } from '../../pages/parts/page-part.pages.tsx'
import type { StayChoice } from '../../pages/parts/stay-signed-in.pages.tsx'
import type { InputRejection } from '../interactions/progress.ts'
import { PASSCODE_METHOD } from './passcode/passcode-forms.http.ts'
import { PASSKEY_METHOD } from './passkey/passkey-forms.http.ts'
import { PASSWORD_METHOD } from './password/password-forms.http.ts'
import { PROVIDER_METHOD } from './provider/provider-forms.http.ts'
import { offersMethod } from './step/offered-methods.ts'
import type { FormHandlers, SignInMethod } from './step/sign-in-method.http.ts'
import type { SignInStep } from './step/sign-in-step.ts'

const METHODS_BY_NAME: Record<SignInMethodName, SignInMethod> = {
  passcode: PASSCODE_METHOD,
  passkey: PASSKEY_METHOD,
  provider: PROVIDER_METHOD,
  password: PASSWORD_METHOD,
}

/** All methods, those included that a tenant has switched off. */
export const ALL_METHODS: readonly SignInMethod[] = Object.values(METHODS_BY_NAME)

/** The methods of the tenant that lead to an `acr` that the request accepts, in the order of the tenant. */
export const listOfferedMethods = (signIn: SignInStep): SignInMethod[] =>
  [...(signIn.call.tenant.signInMethods as SignInMethodName[]), 'password' as const]
    .filter((name) => offersMethod(signIn, name))
    .map((name) => METHODS_BY_NAME[name])

/** The handlers of the forms of the offered methods. */
export const listMethodForms = (signIn: SignInStep): FormHandlers =>
  Object.fromEntries(listOfferedMethods(signIn).flatMap(({ forms }) => Object.entries(forms)))

const asksToStay = ({ call }: SignInStep): boolean => call.tenant.staySignedIn === 'ask'

/** The checkbox in the form of a method on the first page; null if it has none. */
function selectStayChoice(
  signIn: SignInStep,
  { firstForm }: SignInMethod,
  offered: readonly SignInMethod[],
): StayChoice | null {
  if (!asksToStay(signIn) || !firstForm) return null
  const isChecked = signIn.interaction.progress.staySignedIn === true
  if (offered.every((other) => (other.firstForm?.stayRank ?? Number.POSITIVE_INFINITY) >= firstForm.stayRank))
    return { kind: 'copied', isChecked }
  return firstForm.hasOwnCheckboxWithoutScript ? { kind: 'noscript', isChecked } : null
}

/** The notes and the parts of the offered methods on the first page. */
export function renderMethods(
  signIn: SignInStep,
  form: PageInteraction,
  rejection: InputRejection | null,
): PagePart[] {
  const offered = listOfferedMethods(signIn)
  const owner = rejection && ALL_METHODS.find(({ ownsRejection }) => ownsRejection?.(rejection))
  return [
    ...ALL_METHODS.map(({ renderNote }) => renderNote?.(signIn, form) ?? null),
    ...offered.map(
      (method) =>
        method.renderEntry?.(signIn, {
          form,
          rejection: owner ? (owner === method ? rejection : null) : method.ownsRejection ? null : rejection,
          stay: selectStayChoice(signIn, method, offered),
        }) ?? null,
    ),
  ]
}

/** The sign-in with the choice of a form that begins it. The next form that saves the progress stores it. */
function readStayChoice(signIn: SignInStep, form: Record<string, string>): SignInStep {
  if (!asksToStay(signIn) || !ALL_METHODS.some(({ firstForm }) => firstForm?.step === form.step))
    return signIn
  const { interaction } = signIn
  const progress = { ...interaction.progress, staySignedIn: form.stay === '1' }
  return { ...signIn, interaction: { ...interaction, progress } }
}

/** The sign-in with what a form says besides its input. */
export const readMethodForm = (signIn: SignInStep, form: Record<string, string>): SignInStep =>
  readStayChoice(
    ALL_METHODS.reduce((read, { readForm }) => readForm?.(read, form) ?? read, signIn),
    form,
  )
