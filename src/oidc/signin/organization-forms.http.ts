import { renderComponent } from '../../pages/responses.http.ts'
import { switchAccount } from './account-forms.http.ts'
import { SelectOrganizationPage } from './select-organization.pages.tsx'
import { continueInOrganization } from './step/sign-in.ts'
import type { FormHandlers, PageView } from './step/sign-in-method.http.ts'
import { redirectToPage } from './step/sign-in-step.http.ts'
import type { SignInStep } from './step/sign-in-step.ts'

/** The forms of the page on which a member of several organizations chooses one. */
export const ORGANIZATION_FORMS: FormHandlers = { organization: chooseOrganization, switch: switchAccount }

/** Renders that page. */
export const renderOrganizationChoice = (
  { call, authorization: { signInState } }: SignInStep,
  { common, options }: PageView,
): Response =>
  renderComponent(
    call.ctx,
    SelectOrganizationPage,
    { ...common, person: signInState ?? {}, organizations: signInState?.organizations ?? [] },
    options,
  )

async function chooseOrganization(signIn: SignInStep, form: Record<string, string>): Promise<Response> {
  const state = signIn.authorization.signInState
  const chosen = state?.organizations?.find(({ id }) => id === form.organization)
  if (state && chosen) await continueInOrganization(signIn.call.ctx, signIn.interaction, state, chosen.id)
  return redirectToPage(signIn)
}
