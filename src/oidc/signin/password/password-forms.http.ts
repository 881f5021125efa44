import { getRequestWords } from '../../../languages/request-language.ts'
import { renderComponent } from '../../../pages/responses.http.ts'
import { addAccountCookies } from '../step/added-account.http.ts'
import { describeInputRejection, toAttemptsRejection } from '../step/input-rejection-texts.ts'
import type { PageView, SignInMethod } from '../step/sign-in-method.http.ts'
import { buildPagePath, redirectToPage, rejectInput } from '../step/sign-in-step.http.ts'
import type { SignInStep } from '../step/sign-in-step.ts'
import { PasswordPage } from './password.pages.tsx'
import { RejectedPassword, signInByPassword } from './password-sign-in.ts'

/** The password of the system that the tenant moves from, on a page beside that of the code. */
export const PASSWORD_METHOD: SignInMethod = {
  forms: { password: handlePassword },
  pages: { password: { isOpen: hasAddress, render: renderPasswordPage } },
}

function hasAddress({ interaction }: SignInStep): boolean {
  return interaction.progress.address !== undefined
}

function renderPasswordPage(signIn: SignInStep, { common, rejection, options }: PageView): Response {
  const { call, interaction } = signIn
  return renderComponent(
    call.ctx,
    PasswordPage,
    {
      ...common,
      error: rejection && describeInputRejection(getRequestWords(call.ctx), rejection),
      address: interaction.progress.address ?? '',
      codePath: buildPagePath(signIn, 'code'),
    },
    options,
  )
}

async function handlePassword(signIn: SignInStep, form: Record<string, string>): Promise<Response> {
  if (!hasAddress(signIn)) return redirectToPage(signIn)
  try {
    const entered = await signInByPassword(signIn, form.password ?? '')
    return redirectToPage(signIn, 'email', addAccountCookies(signIn, entered))
  } catch (error) {
    return rejectInput(signIn, {
      page: 'password',
      ...(error instanceof RejectedPassword ? { reason: 'password' } : toAttemptsRejection(error)),
    })
  }
}
