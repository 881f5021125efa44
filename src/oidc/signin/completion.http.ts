import type { OAuthError } from '../../core/oauth-error.ts'
import type { RenderOptions } from '../../pages/render-page.pages.tsx'
import { redirectTo, renderComponent } from '../../pages/responses.http.ts'
import { issueCodeResponse } from '../authorize/issue-answer.ts'
import { sendAuthorizationResponse } from '../authorize/response-modes.http.ts'
import { sendErrorResponse } from '../authorize/send-error.http.ts'
import { deleteInteraction } from '../interactions/interactions.ts'
import type { AccountPagesRequest, DeviceRequest, PendingRedirect } from '../model/authorize-request.ts'
import { describeDestination } from '../model/unreviewed-clients.ts'
import { ConsentPage, type ConsentPageProps } from './consent.pages.tsx'
import { buildSessionCookies } from './step/sign-in-step.http.ts'
import type { SignInStep } from './step/sign-in-step.ts'

/** How a sign-in ends, depending on where its request is answered. */
export type CompletionStrategy = {
  /** Whether forms may lead to another site than hosted pages. */
  leadsElsewhere: boolean
  /** Renders the consent page. */
  renderConsent: (props: ConsentPageProps, options: RenderOptions) => Response
  /** Grants the request and ends the interaction; null when the sign-in has expired. */
  complete: () => Promise<Response | null>
  /** Denies the request and ends the interaction. `hasSeenPage`: the user has been shown one of its pages. */
  reject: (error: OAuthError, seen: { hasSeenPage: boolean }) => Promise<Response>
}

/** Answers at the client's redirect URI (RFC 6749, section 4.1.2). */
const createRedirectCompletion = (
  { call, interaction, authorization }: SignInStep,
  request: PendingRedirect,
): CompletionStrategy => ({
  leadsElsewhere: true,
  renderConsent: (props, options) =>
    renderComponent(
      call.ctx,
      ConsentPage,
      { ...props, destination: describeDestination(authorization.client, request.redirectUri) },
      options,
    ),
  complete: async () => {
    const answer = issueCodeResponse(call.tenant, request, authorization)
    // Of two submissions of the last form, only the one that deletes the interaction issues a code.
    if (!answer || !(await deleteInteraction(call.ctx.db, interaction))) return null
    return sendAuthorizationResponse(call.ctx, answer)
  },
  reject: async (error, seen) => {
    await deleteInteraction(call.ctx.db, interaction)
    return sendErrorResponse(call, request, error, seen)
  },
})

/** Goes on to the account page that asked for the sign-in, which checks the session itself. */
const createAccountCompletion = (
  signIn: SignInStep,
  { returnTo }: AccountPagesRequest,
): CompletionStrategy => {
  const { call, interaction, authorization } = signIn
  return {
    leadsElsewhere: false,
    renderConsent: () => {
      throw new Error('the account pages request no consent')
    },
    complete: async () => {
      await deleteInteraction(call.ctx.db, interaction)
      const { accounts, signInState } = authorization
      const account = accounts.find(({ id }) => id === signInState?.id)
      // The account pages are those of the current session.
      return redirectTo(returnTo, buildSessionCookies(signIn, account ?? null))
    },
    reject: async () => {
      await deleteInteraction(call.ctx.db, interaction)
      return redirectTo(`/${call.ctx.tenant}/account${authorization.signInState ? '' : '/signed-out'}`)
    },
  }
}

type DeviceCompletion = (signIn: SignInStep, request: DeviceRequest) => CompletionStrategy

let completeOnDevice: DeviceCompletion | undefined

/**
 * Registers how a sign-in for a device is completed (RFC 8628), so that this folder does not import the
 * device folder.
 */
export function registerDeviceCompletion(complete: DeviceCompletion): void {
  completeOnDevice = complete
}

/** How this sign-in is completed: at the device, on an account page or at the redirect URI. */
export function selectCompletion(signIn: SignInStep): CompletionStrategy {
  const { request } = signIn.interaction
  if (request.responseMode === 'account') return createAccountCompletion(signIn, request)
  if (request.responseMode !== 'device') return createRedirectCompletion(signIn, request)
  if (!completeOnDevice) throw new Error('no completion is registered for devices')
  return completeOnDevice(signIn, request)
}
