import { createCsrfToken } from '../../pages/csrf.ts'
import { addCookies } from '../../pages/responses.http.ts'
import { clearInputRejection } from '../interactions/interactions.ts'
import type { SignInPageName } from '../interactions/progress.ts'
import { renderAccountChoice } from './account-forms.http.ts'
import { selectCompletion } from './completion.http.ts'
import { renderConsent } from './consent-forms.http.ts'
import { renderFirstPage } from './first-page.http.ts'
import { renderOrganizationChoice } from './organization-forms.http.ts'
import { renderRecoveryCodes, SECOND_FACTOR_PAGES } from './second-factor/second-factor-forms.http.ts'
import { ALL_METHODS, listOfferedMethods } from './sign-in-methods.http.ts'
import { renderSignUpPage } from './sign-up/sign-up-forms.http.ts'
import { computeRetryAfter } from './step/input-rejection-texts.ts'
import type { RenderPage, SignInMethod } from './step/sign-in-method.http.ts'
import { buildPagePath, getCsrfBinding } from './step/sign-in-step.http.ts'
import type { SignInStep } from './step/sign-in-step.ts'
import { renderTerms } from './terms/terms-forms.http.ts'

/** The pages that a method adds. */
const listPages = ({ pages = {}, finalPage }: SignInMethod) => [
  ...Object.entries(pages).map(([name, { render }]) => [name, render]),
  ...(finalPage ? [[finalPage.name, finalPage.render]] : []),
]

const PAGES: Partial<Record<SignInPageName, RenderPage>> = {
  email: renderFirstPage,
  create: renderSignUpPage,
  ...SECOND_FACTOR_PAGES,
  'recovery-codes': renderRecoveryCodes,
  select: renderAccountChoice,
  terms: renderTerms,
  organization: renderOrganizationChoice,
  consent: renderConsent,
  ...Object.fromEntries(ALL_METHODS.flatMap(listPages)),
}

/** The names of all pages of a sign-in. */
export const SIGN_IN_PAGES = Object.keys(PAGES) as SignInPageName[]

/** The page of a method that is open to a signed-in user before the request is answered; null for none. */
export async function findFinalPage(signIn: SignInStep): Promise<SignInPageName | null> {
  if (signIn.authorization.next.step !== 'issue' || hasCodesToSave(signIn)) return null
  for (const { finalPage } of ALL_METHODS) if (await finalPage?.isOpen(signIn)) return finalPage?.name ?? null
  return null
}

/** A signed-in user saves the new recovery codes before anything else. */
export const hasCodesToSave = ({ interaction, authorization }: SignInStep): boolean =>
  interaction.progress.recoveryCodes !== undefined &&
  ['issue', 'organization', 'consent', 'select'].includes(authorization.next.step)

/**
 * The page to show. During sign-in the pages of the methods are available, so that the back button leads from the code
 * to the address. Once an address without a user is proven, its account is created or another address is entered.
 */
export function selectPage(
  signIn: SignInStep,
  requestedPage: SignInPageName,
  finalPage: SignInPageName | null,
): SignInPageName {
  const { interaction, authorization } = signIn
  const { step } = authorization.next
  if (hasCodesToSave(signIn)) return 'recovery-codes'
  if (step === 'consent' || step === 'select' || step === 'terms' || step === 'organization') return step
  if (step === 'second-factor')
    return Object.hasOwn(SECOND_FACTOR_PAGES, requestedPage) ? requestedPage : 'second-factor'
  if (finalPage) return finalPage
  if (interaction.progress.provenAddress) return 'create'
  const isOpen = listOfferedMethods(signIn).some(({ pages }) => pages?.[requestedPage]?.isOpen(signIn))
  return isOpen ? requestedPage : 'email'
}

/** Sends the browser elsewhere instead of showing the first page; null where the page is shown. */
export async function leaveFirstPage(signIn: SignInStep, cookies: string[]): Promise<Response | null> {
  const offered = listOfferedMethods(signIn)
  for (const { leaveFirstPage: leave } of offered) {
    const response = await leave?.(signIn, offered.length === 1)
    if (response) return addCookies(response, cookies)
  }
  return null
}

/** Renders a page with the error of the last input, if any, which is shown once. */
export async function renderSignInPage(signIn: SignInStep, page: SignInPageName): Promise<Response> {
  const { call, interaction, authorization } = signIn
  const { refusal } = interaction.progress
  if (refusal) await clearInputRejection(call.ctx.db, interaction)
  const rejection = refusal?.page === page ? refusal : null
  const form = {
    action: buildPagePath(signIn, page),
    csrf: createCsrfToken('signin', ...getCsrfBinding(signIn, page)),
  }
  return (PAGES[page] as RenderPage)(signIn, {
    common: { tenant: call.tenant, client: authorization.client, interaction: form },
    rejection,
    options: {
      ...(rejection?.reason === 'attempts' && {
        status: 429,
        headers: { 'retry-after': computeRetryAfter(rejection) },
      }),
      leadsElsewhere: selectCompletion(signIn).leadsElsewhere,
      isPopup: interaction.request.display === 'popup',
    },
  })
}
