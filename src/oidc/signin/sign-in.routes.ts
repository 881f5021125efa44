import type { H3 } from 'h3'
import type { TenantCall } from '../../access/endpoint.http.ts'
import { addCookies, addPageRoute } from '../../pages/responses.http.ts'
import { createStepError } from '../authorize/step-error.ts'
import { buildInteractionCookie } from '../interactions/browser-binding.ts'
import { createExpiredSignInError, type Interaction } from '../interactions/interactions.ts'
import type { SignInPageName } from '../interactions/progress.ts'
import { selectCompletion } from './completion.http.ts'
import { handleForm } from './sign-in-forms.http.ts'
import {
  findFinalPage,
  hasCodesToSave,
  leaveFirstPage,
  renderSignInPage,
  SIGN_IN_PAGES,
  selectPage,
} from './sign-in-pages.http.ts'
import { answerEndOnce, findEndAnswer, renderFinishedPage } from './step/repeated-forms.http.ts'
import {
  findSignInStep,
  readPathClient,
  readPathHandle,
  redirectToPage,
  toPageSuffix,
} from './step/sign-in-step.http.ts'
import type { SignInStep } from './step/sign-in-step.ts'

/**
 * The hosted sign-in pages. Each request decides anew which page is next, so that the back button, repeated
 * submissions and several tabs lead to a valid page.
 */
export function addSignInRoutes(app: H3): void {
  for (const page of SIGN_IN_PAGES)
    addPageRoute(
      app,
      `/:tenant/signin/:handle${toPageSuffix(page)}`,
      {
        GET: (call) => showSignInPage(call, page),
        // The page answers the request when nothing is left to ask.
        HEAD: null,
        POST: (call) => handleForm(call, page),
      },
      'authorize.refused',
    )
}

async function showSignInPage(call: TenantCall, requestedPage: SignInPageName): Promise<Response> {
  const signIn = await findSignInStep(call)
  if (!signIn)
    return (await findEndAnswer(call, readPathHandle(call))) ?? renderFinishedPage(call, readPathClient(call))
  const { interaction, authorization } = signIn
  const cookies = [buildInteractionCookie(call.ctx.tenant, interaction.handle, interaction.key)]
  const { next } = authorization
  const finalPage = await findFinalPage(signIn)
  if (next.step === 'issue' && !finalPage && !hasCodesToSave(signIn))
    return completeAuthorization(signIn, cookies)
  if (next.step === 'error')
    return answerEndOnce(signIn, () =>
      selectCompletion(signIn).reject(
        createStepError(next, interaction.request, authorization, signIn.tokens.length > 0),
        // Progress comes from forms of the pages.
        { hasSeenPage: hasProgressOfPages(interaction) },
      ),
    )
  const page = selectPage(signIn, requestedPage, finalPage)
  if (page !== requestedPage) return redirectToPage(signIn, page, cookies)
  const left = page === 'email' ? await leaveFirstPage(signIn, cookies) : null
  return left ?? addCookies(await renderSignInPage(signIn, requestedPage), cookies)
}

/** Whether the user has submitted a form. A redirect to a provider before the first page does not count. */
const hasProgressOfPages = ({ progress: { provider: _, isLed: __, ...progress } }: Interaction): boolean =>
  Object.keys(progress).length > 0

const completeAuthorization = (signIn: SignInStep, cookies: string[]): Promise<Response> =>
  answerEndOnce(signIn, async () => {
    const answer = await selectCompletion(signIn).complete()
    if (!answer) throw createExpiredSignInError()
    return addCookies(answer, cookies)
  })
