import type { PagePart } from '../../../pages/page-part.pages.tsx'
import type { PageInteraction } from '../../../pages/page-shell.pages.tsx'
import type { InputRejection } from '../../interactions/progress.ts'
import type { SignInStep } from './sign-in-step.ts'

/** Handles a form of the sign-in pages; `form` has its fields. */
export type FormHandler = (signIn: SignInStep, form: Record<string, string>) => Promise<Response>

/** A way to sign in: one folder, and one entry in the table of sign-in-methods.http.ts. */
export type SignInMethod = {
  /** The handlers of its forms, by `step`. */
  forms: Record<string, FormHandler>
  /** Its part of the first page, with the error of its last input, if any. */
  renderEntry: (signIn: SignInStep, form: PageInteraction, rejection: InputRejection | null) => PagePart
}
