import type { TenantCall } from '../../access/endpoint.http.ts'
import { toClaimConsentItems, toScopeConsentItems } from '../../consents/consent-items.ts'
import { AppError } from '../../core/errors.ts'
import { INTERACTION_COOKIE, readCookie, SESSION_COOKIE } from '../../pages/cookies.ts'
import { createCsrfToken } from '../../pages/csrf.ts'
import type { RenderOptions } from '../../pages/render-page.pages.tsx'
import { redirectTo, renderComponent } from '../../pages/responses.http.ts'
import { evaluateRequest, selectExpectedAddress } from '../authorize/evaluate-request.ts'
import { findInteraction, type InputRejection, type Interaction } from '../interactions/interactions.ts'
import { selectCompletion } from './completion.http.ts'
import { SelectAccountPage } from './select-account.pages.tsx'
import { CodePage, describeInputRejection, EmailPage } from './sign-in.pages.tsx'
import { computeResendAllowedAt } from './sign-in.ts'
import type { SignInStep } from './sign-in-step.ts'

/** The pages of a sign-in in their order. */
export const SIGN_IN_PAGES = ['email', 'code', 'select', 'consent'] as const
export type SignInPage = (typeof SIGN_IN_PAGES)[number]

/** The last path segment of each page. */
export const SIGN_IN_PATHS: Record<SignInPage, string> = {
  email: '',
  code: '/code',
  select: '/select',
  consent: '/consent',
}

/** The same message for every reason, so that it does not reveal whether a handle exists. */
export const createExpiredSignInError = () =>
  new AppError(
    'NOT_FOUND',
    410,
    'This sign-in has expired, was finished, or was started in another browser. Go back to the application and sign in again.',
  )

/**
 * Loads and evaluates the sign-in of a call. Throws AppError (410) when this browser has none with this
 * handle.
 */
export async function loadSignInStep(call: TenantCall): Promise<SignInStep> {
  const { event, ctx } = call
  const cookies = event.req.headers.get('cookie')
  const sessionToken = readCookie(cookies, SESSION_COOKIE)
  const interaction = await findInteraction(
    ctx.tenant,
    event.context.params?.handle ?? '',
    readCookie(cookies, INTERACTION_COOKIE),
  )
  if (!interaction) throw createExpiredSignInError()
  call.setClient(interaction.request.clientId)
  const authorization = await evaluateRequest(ctx, interaction.request, interaction.progress, sessionToken)
  return { call, interaction, authorization, sessionToken }
}

const buildPagePath = ({ call, interaction }: SignInStep, page: SignInPage): string =>
  `/${call.ctx.tenant}/signin/${interaction.handle}${SIGN_IN_PATHS[page]}`

/** Redirects the browser to a page of the sign-in; without one, the page is decided anew. */
export const redirectToPage = (
  signIn: SignInStep,
  page: SignInPage = 'email',
  cookies: string[] = [],
): Response => redirectTo(buildPagePath(signIn, page), cookies)

/**
 * The values that a page's CSRF token is bound to: the tenant, the interaction and the browser. Pages with a
 * decision add the session, since another tab may have signed in another user, and what was requested, since
 * the user's roles may have changed.
 */
export function getCsrfBinding({ call, interaction, authorization }: SignInStep, page: SignInPage): string[] {
  const isDecision = page === 'consent' || page === 'select'
  const { signInState: state, scopes, claims } = authorization
  const decision = isDecision ? [state?.id ?? '', scopes.join(' '), claims.join(' ')] : []
  return [call.ctx.tenant, interaction.handle, interaction.key, ...decision]
}

/** The rejection of the last input of this page. */
const findInputRejection = (page: SignInPage, { refusal }: Interaction['progress']): InputRejection | null =>
  refusal?.page === page ? refusal : null

/** Renders a page with the error of the last input, if any. */
export function renderSignInPage(signIn: SignInStep, page: SignInPage): Response {
  const { call, interaction, authorization } = signIn
  const { request, progress } = interaction
  const completion = selectCompletion(signIn)
  const form = {
    action: buildPagePath(signIn, page),
    csrf: createCsrfToken('signin', ...getCsrfBinding(signIn, page)),
  }
  const refusal = findInputRejection(page, progress)
  const error = refusal && describeInputRejection(refusal)
  const common = { tenant: call.tenant, client: authorization.client, interaction: form, error }
  const options: RenderOptions = {
    formActionOrigins: completion.destinations,
    isPopup: request.display === 'popup',
  }
  if (page === 'select')
    return renderComponent(SelectAccountPage, { ...common, person: authorization.signInState ?? {} }, options)
  if (page === 'consent')
    return completion.renderConsent(
      {
        ...common,
        person: authorization.signInState ?? {},
        consentItems: [
          ...toScopeConsentItems(authorization.scopes),
          ...toClaimConsentItems(authorization.claims),
        ],
      },
      options,
    )
  const expected = progress.isAnother ? null : selectExpectedAddress(request, authorization.signInState)
  const address = refusal?.entered ?? progress.address ?? expected
  return page === 'code'
    ? renderComponent(
        CodePage,
        {
          ...common,
          address: address ?? '',
          digits: progress.digits,
          resendAllowedAt: computeResendAllowedAt(progress),
        },
        options,
      )
    : renderComponent(EmailPage, { ...common, address }, options)
}
