import { InvalidInput, UserLocked } from '../../../core/errors.ts'
import { getRequestWords } from '../../../languages/request-language.ts'
import { renderComponent } from '../../../pages/responses.http.ts'
import { canSignUp } from '../../../passcodes/sign-up-policy.ts'
import { readAccountForm, toFormIssues } from '../../../sign-up/account-form.ts'
import { listSignUpFields, readEntries } from '../../../sign-up/sign-up-fields.ts'
import { buildKnownBrowserCookies, clearAddress } from '../passcode/passcode-sign-in.ts'
import { addAccountCookies } from '../step/added-account.http.ts'
import { describeInputRejection, toAttemptsRejection } from '../step/input-rejection-texts.ts'
import type { FormHandlers, PageView } from '../step/sign-in-method.http.ts'
import { readCookies, redirectToPage, rejectInput } from '../step/sign-in-step.http.ts'
import type { SignInStep } from '../step/sign-in-step.ts'
import { SignUpPage } from './sign-up.pages.tsx'
import { createAccount } from './sign-up.ts'

/** The form of a new account. */
export const SIGN_UP_FORMS: FormHandlers = { create: handleCreation }

/** Renders the page of a new account, with the error of the last input. */
export function renderSignUpPage(
  { call, interaction }: SignInStep,
  { common, rejection, options }: PageView,
): Response {
  const isOfFields = rejection?.reason === 'fields'
  return renderComponent(
    call.ctx,
    SignUpPage,
    {
      ...common,
      address: interaction.progress.provenAddress?.shown ?? '',
      fields: listSignUpFields(call.tenant),
      terms: call.tenant,
      values: rejection?.values,
      issues: rejection?.issues,
      error: rejection && !isOfFields ? describeInputRejection(getRequestWords(call.ctx), rejection) : null,
    },
    options,
  )
}

async function handleCreation(signIn: SignInStep, form: Record<string, string>): Promise<Response> {
  const { call, interaction } = signIn
  const { ctx, tenant } = call
  const { provenAddress } = interaction.progress
  if (!provenAddress) return redirectToPage(signIn)
  if (!canSignUp(tenant, provenAddress)) return rejectAddress(signIn, 'closed')
  const fields = listSignUpFields(tenant)
  const entries = readEntries(fields, form)
  try {
    const account = { address: provenAddress, ...readAccountForm(tenant, fields, entries, form) }
    const created = await createAccount(signIn, account)
    if (created === null) return redirectToPage(signIn)
    return redirectToPage(signIn, 'email', [
      ...addAccountCookies(signIn, created.entered),
      ...buildKnownBrowserCookies(ctx.tenant, provenAddress.shown, readCookies(signIn)),
    ])
  } catch (error) {
    if (error instanceof UserLocked) return rejectAddress(signIn, 'locked')
    const rejection =
      error instanceof InvalidInput
        ? { reason: 'fields' as const, issues: toFormIssues(error) }
        : toAttemptsRejection(error)
    return rejectInput(signIn, { page: 'create', values: entries, ...rejection })
  }
}

/** Discards the proven address: the person enters another one. */
async function rejectAddress(signIn: SignInStep, reason: 'closed' | 'locked'): Promise<Response> {
  await clearAddress(signIn.call.ctx, signIn.interaction)
  return rejectInput(signIn, { page: 'email', reason })
}
