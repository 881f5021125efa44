import type { PageClient, PageInteraction, PageTenant } from '../../../pages/page-shell.pages.tsx'
import type { PagePart } from '../../../pages/parts/page-part.pages.tsx'
import type { StayChoice } from '../../../pages/parts/stay-signed-in.pages.tsx'
import type { RenderOptions } from '../../../pages/render-page.pages.tsx'
import type { InputRejection, SignInPageName } from '../../interactions/progress.ts'
import type { SignInStep } from './sign-in-step.ts'

/** Handles a form of the sign-in pages; `form` has its fields. */
export type FormHandler = (signIn: SignInStep, form: Record<string, string>) => Promise<Response>

/** The handlers of forms, by `step`. */
export type FormHandlers = Record<string, FormHandler>

/** What every page of a sign-in gets. */
export type PageView = {
  common: { tenant: PageTenant; client: PageClient; interaction: PageInteraction }
  /** The error of the last input of the page, if any. */
  rejection: InputRejection | null
  options: RenderOptions
}

export type RenderPage = (signIn: SignInStep, view: PageView) => Response | Promise<Response>

/** What the part of a method on the first page gets. */
export type EntryView = {
  form: PageInteraction
  /** The error of the last input of the method, if any. */
  rejection: InputRejection | null
  /** The checkbox in its form; null if it has none. */
  stay: StayChoice | null
}

/**
 * A way to sign in: a name in core/sign-in-methods.ts, a folder, and an entry in the table of sign-in-methods.http.ts.
 * The folder declares the members of `Progress` and the pages that the method adds.
 */
export type SignInMethod = {
  forms: FormHandlers
  /** The form that begins a sign-in; without one, the method follows the first page. Of the offered methods, the one of the lowest rank has the checkbox of the page. */
  firstForm?: { step: string; stayRank: number; hasOwnCheckboxWithoutScript?: true }
  /** Its part of the first page. */
  renderEntry?: (signIn: SignInStep, view: EntryView) => PagePart
  /** A note above the parts of the first page. */
  renderNote?: (signIn: SignInStep, form: PageInteraction) => PagePart
  /** Whether its part of the first page shows a rejection; without it, those that no other method owns. */
  ownsRejection?: (rejection: InputRejection) => boolean
  /** Its own pages, each with the condition under which a user who signs in may open it. */
  pages?: Partial<Record<SignInPageName, { isOpen: (signIn: SignInStep) => boolean; render: RenderPage }>>
  /** The page that it shows after a sign-in, before the request is answered. */
  finalPage?: {
    name: SignInPageName
    isOpen: (signIn: SignInStep) => Promise<boolean>
    render: RenderPage
    forms: FormHandlers
  }
  /** The forms whose handlers keep the response themselves: others are claimed before they are handled. */
  claimsItself?: readonly string[]
  /** The sign-in with what a form of any method says about the browser. The next form that saves the progress stores it. */
  readForm?: (signIn: SignInStep, form: Record<string, string>) => SignInStep
  /** Sends the browser elsewhere instead of showing the first page; null where the page is shown. */
  leaveFirstPage?: (signIn: SignInStep, isOnlyMethod: boolean) => Promise<Response> | null
  /** Handles a form of another method instead of that one; null for most. */
  takeForm?: (signIn: SignInStep, form: Record<string, string>) => Promise<Response | null>
}
