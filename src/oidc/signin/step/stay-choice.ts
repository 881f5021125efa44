import type { SignInMethodName } from '../../../core/sign-in-methods.ts'
import type { StayChoice } from '../../../pages/stay-signed-in.pages.tsx'
import { offersMethod } from './offered-methods.ts'
import type { SignInStep } from './sign-in-step.ts'

/** The methods in the order in which one of them has the checkbox of the page. */
const ORDER = ['passcode', 'provider', 'passkey'] as const satisfies SignInMethodName[]
/** The forms that begin a sign-in, by `step`. */
const FORMS: readonly string[] = ['email', 'provider', 'passkey']

const asks = ({ call }: SignInStep): boolean => call.tenant.staySignedIn === 'ask'

/** The checkbox in the form of a method on the first page; null if it has none. */
export function selectStayChoice(signIn: SignInStep, method: SignInMethodName): StayChoice | null {
  if (!asks(signIn) || signIn.authorization.next.step !== 'login') return null
  const isChecked = signIn.interaction.progress.staySignedIn === true
  if (ORDER.find((name) => offersMethod(signIn, name)) === method) return { kind: 'copied', isChecked }
  return method === 'provider' ? { kind: 'noscript', isChecked } : null
}

/** The sign-in with the choice of a form that begins it. The next form that saves the progress stores it. */
export function readStayChoice(signIn: SignInStep, form: Record<string, string>): SignInStep {
  if (!asks(signIn) || !FORMS.includes(form.step ?? '')) return signIn
  const { interaction } = signIn
  const progress = { ...interaction.progress, staySignedIn: form.stay === '1' }
  return { ...signIn, interaction: { ...interaction, progress } }
}
