import { RateLimited } from '../../../core/errors.ts'
import type { SecondFactorName } from '../../../core/sign-in-methods.ts'
import { addSeconds } from '../../../core/time.ts'
import { selectAccountLabel } from '../../../credentials/registration.ts'
import type { PageClient, PageInteraction, PageTenant } from '../../../pages/page-shell.pages.tsx'
import type { RenderOptions } from '../../../pages/render-page.pages.tsx'
import { renderComponent } from '../../../pages/responses.http.ts'
import type { InputRejection } from '../../interactions/interactions.ts'
import { describeInputRejection } from '../input-rejection-texts.ts'
import { clearAddress } from '../passcode/passcode-sign-in.ts'
import { switchUser } from '../sign-in.ts'
import type { FormHandler } from '../sign-in-method.http.ts'
import { buildPagePath, buildSessionCookies, redirectToPage, rejectInput } from '../sign-in-step.http.ts'
import type { SignInStep } from '../sign-in-step.ts'
import { RecoveryCodePage, TotpPage } from './second-factor.pages.tsx'
import { findSecondFactorUser, RejectedSecondFactor, signInBySecondFactor } from './second-factor-sign-in.ts'

/** The page of each second factor. */
const PAGES = { totp: 'second-factor', recovery: 'recovery' } as const
export type SecondFactorPageName = (typeof PAGES)[SecondFactorName]

/** The forms of a second factor, by `step`. */
export const SECOND_FACTOR_FORMS: Record<string, FormHandler> = {
  totp: (signIn, form) => handleCode(signIn, form, 'totp'),
  recovery: (signIn, form) => handleCode(signIn, form, 'recovery'),
  restart: restartSignIn,
}

type CommonProps = { tenant: PageTenant; client: PageClient; interaction: PageInteraction }

/** Renders the page of a second factor, with the error of the last input. */
export function renderSecondFactor(
  signIn: SignInStep,
  page: SecondFactorPageName,
  common: CommonProps,
  rejection: InputRejection | null,
  options: RenderOptions,
): Response {
  const found = findSecondFactorUser(signIn)
  if (!found) throw new Error('no second factor is asked for')
  const [Page, other] =
    page === 'recovery' ? ([RecoveryCodePage, 'second-factor'] as const) : ([TotpPage, 'recovery'] as const)
  const props = {
    ...common,
    label: selectAccountLabel(found.user),
    otherPath: buildPagePath(signIn, other),
    error: rejection && describeInputRejection(rejection),
  }
  return renderComponent(Page, props, options)
}

async function handleCode(
  signIn: SignInStep,
  form: Record<string, string>,
  method: SecondFactorName,
): Promise<Response> {
  const found = findSecondFactorUser(signIn)
  if (!found) return redirectToPage(signIn)
  try {
    const token = await signInBySecondFactor(signIn, found, { method, code: form.code ?? '' })
    return redirectToPage(signIn, 'email', buildSessionCookies(signIn.call.ctx.tenant, token))
  } catch (error) {
    return rejectInput(signIn, { page: PAGES[method], ...toInputRejection(error, method) })
  }
}

/** Converts an error of a rejected input; rethrows any other error. */
function toInputRejection(
  error: unknown,
  method: SecondFactorName,
): Pick<InputRejection, 'reason' | 'retryAt'> {
  if (error instanceof RejectedSecondFactor) return { reason: method }
  if (error instanceof RateLimited)
    return { reason: 'attempts', retryAt: addSeconds(new Date(), error.retryAfterSeconds).toISOString() }
  throw error
}

/** Forgets the first proof, or signs in anew instead of the session's user. */
async function restartSignIn(signIn: SignInStep): Promise<Response> {
  const { call, interaction } = signIn
  if (interaction.progress.firstProof) await clearAddress(call.ctx, interaction)
  else await switchUser(call.ctx, interaction)
  return redirectToPage(signIn)
}
