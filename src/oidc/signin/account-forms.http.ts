import { buildRemovalCookies } from '../../pages/account-cookies.ts'
import { renderComponent } from '../../pages/responses.http.ts'
import { endAccounts } from '../../sessions/browser-accounts.ts'
import type { AccountState } from '../authorize/account-choice.ts'
import { SelectAccountPage } from './select-account.pages.tsx'
import { continueAsAccount, openAccountChoice, switchUser } from './step/sign-in.ts'
import type { FormHandler, FormHandlers, PageView } from './step/sign-in-method.http.ts'
import { buildSessionCookies, readCookies, redirectToPage } from './step/sign-in-step.http.ts'
import type { SignInStep } from './step/sign-in-step.ts'

/** The forms of the page on which the user chooses an account. */
export const ACCOUNT_FORMS: FormHandlers = {
  continue: continueWithAccount,
  switch: useAnotherAccount,
}

/** The form that leads back to that page. */
export const CHOOSE_FORMS: FormHandlers = { choose: chooseAccount }

/** Renders the page on which the user chooses an account. */
export const renderAccountChoice = (
  { call, authorization }: SignInStep,
  { common, options }: PageView,
): Response =>
  renderComponent(call.ctx, SelectAccountPage, { ...common, accounts: authorization.accounts }, options)

/** The account of a form, which is one of this browser; null for any other. */
const findAccount = ({ authorization }: SignInStep, form: Record<string, string>): AccountState | null =>
  authorization.accounts.find(({ id }) => id === form.account) ?? null

async function continueWithAccount(signIn: SignInStep, form: Record<string, string>): Promise<Response> {
  const account = findAccount(signIn, form)
  if (!account) return redirectToPage(signIn)
  await continueAsAccount(signIn.call.ctx, signIn.interaction, account)
  return redirectToPage(signIn, 'email', account.isActive ? buildSessionCookies(signIn, account) : [])
}

/** Ends the session of an account of the browser. At every step: another tab may have continued since the page. */
export async function removeAccount(signIn: SignInStep, form: Record<string, string>): Promise<Response> {
  const { ctx } = signIn.call
  const account = findAccount(signIn, form)
  if (!account) return redirectToPage(signIn)
  await endAccounts(ctx, [account], signIn.interaction.request.clientId)
  return redirectToPage(signIn, 'email', buildRemovalCookies(ctx.tenant, readCookies(signIn), [account]))
}

async function useAnotherAccount(signIn: SignInStep): Promise<Response> {
  await switchUser(signIn.call.ctx, signIn.interaction)
  return redirectToPage(signIn)
}

async function chooseAccount(signIn: SignInStep): Promise<Response> {
  await openAccountChoice(signIn.call.ctx, signIn.interaction)
  return redirectToPage(signIn)
}

/** Leads a user who is not the one that a page names to the other accounts of the browser, or to a sign-in. */
export const switchAccount: FormHandler = (signIn) =>
  signIn.authorization.accounts.length > 1 ? chooseAccount(signIn) : useAnotherAccount(signIn)

/** Whether the sign-in page leads to the accounts of the browser. */
export const offersAccounts = ({ interaction, authorization }: SignInStep): boolean =>
  authorization.accounts.length > 1 ||
  (authorization.accounts.length === 1 && interaction.progress.isAnother === true)
