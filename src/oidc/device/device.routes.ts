import type { H3 } from 'h3'
import type { TenantCall } from '../../access/endpoint.http.ts'
import { Forbidden, RateLimited } from '../../core/errors.ts'
import { readQuery } from '../../http/request.http.ts'
import { readForm, requireSingleParams } from '../../http/request-body.http.ts'
import { getRequestWords } from '../../languages/request-language.ts'
import { bindBrowser, readBrowserKey } from '../../pages/browser-key.ts'
import { createCsrfToken, isCsrfToken } from '../../pages/csrf.ts'
import { answerOnce, createSentForm } from '../../pages/form-answers.ts'
import {
  addCookies,
  addOAuthRoute,
  addPageRoute,
  createPlainPage,
  createUncachedJson,
  redirectTo,
  renderComponent,
} from '../../pages/responses.http.ts'
import { limitPendingRequest, readTokenRequest } from '../client-auth/client-request.http.ts'
import { openInteraction } from '../interactions/browser-binding.ts'
import { buildSignInPath } from '../interactions/sign-in-path.ts'
import { describeInputRejection, toAttemptsRejection } from '../signin/step/input-rejection-texts.ts'
import { DeviceApprovedPage, DeviceDeniedPage, UserCodePage } from './device.pages.tsx'
import { startDeviceAuthorization } from './device-authorization.ts'
import { findDeviceRequest } from './device-request.ts'
import { formatUserCode, parseUserCode } from './user-codes.ts'

/**
 * The device authorization endpoint and the pages where users enter the user code (RFC 8628, sections 3.1 and
 * 3.3).
 */
export function addDeviceRoutes(app: H3): void {
  addOAuthRoute(app, '/:tenant/oidc/device', { POST: handleDeviceAuthorization }, 'token.refused')
  addPageRoute(app, '/:tenant/device', { GET: showUserCodePage, POST: handleUserCode })
  addPageRoute(app, '/:tenant/device/approved', { GET: createPlainPage(DeviceApprovedPage) })
  addPageRoute(app, '/:tenant/device/denied', { GET: createPlainPage(DeviceDeniedPage) })
}

async function handleDeviceAuthorization(call: TenantCall): Promise<Response> {
  const request = await readTokenRequest(call)
  await limitPendingRequest(request)
  return createUncachedJson(await startDeviceAuthorization(request))
}

/** Longer input is cut before it is shown again. */
const MAX_ENTERED_CHARACTERS = 40

type UserCodeForm = { code?: string; error?: string; status?: number }

function renderUserCodePage(
  { ctx, tenant }: TenantCall,
  key: string,
  { code, error, status }: UserCodeForm,
): Response {
  const { tenantId } = tenant
  const interaction = { action: `/${tenantId}/device`, csrf: createCsrfToken('device', tenantId, key) }
  return renderComponent(ctx, UserCodePage, { tenant, interaction, code, error }, { status })
}

/**
 * A code in the URL is only prefilled, because an attacker may have made the link (RFC 8628, sections 3.3.1
 * and 5.4).
 */
async function showUserCodePage(call: TenantCall): Promise<Response> {
  const { event, ctx } = call
  const { user_code: entered = '' } = requireSingleParams(readQuery(event))
  const code = parseUserCode(entered)
  const browser = bindBrowser(ctx.tenant, event.req.headers.get('cookie'))
  return addCookies(renderUserCodePage(call, browser.key, { code: code ? formatUserCode(code) : '' }), [
    browser.cookie,
  ])
}

/**
 * Continues with the sign-in. An error is rendered in the response: submitting the form again does no harm.
 */
async function handleUserCode(call: TenantCall): Promise<Response> {
  const { event, ctx } = call
  const { csrf, user_code: entered = '' } = await readForm(event)
  const code = entered.slice(0, MAX_ENTERED_CHARACTERS)
  const key = readBrowserKey(ctx.tenant, event.req.headers.get('cookie'))
  if (!key || !isCsrfToken(csrf, 'device', ctx.tenant, key))
    throw new Forbidden('This page was out of date. Go back, reload it and try again.')
  const sent = createSentForm(call, ['device', key], { csrf: csrf ?? '', user_code: entered }, ['ix'])
  return (await answerOnce(sent, () => continueWithCode(call, key, code))).response
}

async function continueWithCode(call: TenantCall, key: string, code: string): Promise<Response> {
  const { event, ctx } = call
  try {
    const request = await findDeviceRequest(ctx, code)
    if (request) {
      const opened = await openInteraction(ctx, request, event.req.headers.get('cookie'))
      return redirectTo(buildSignInPath(ctx.tenant, opened.handle, request.clientId), opened.cookies)
    }
  } catch (error) {
    if (!(error instanceof RateLimited)) throw error
    const rejection = { page: 'code' as const, ...toAttemptsRejection(error) }
    const message = describeInputRejection(getRequestWords(ctx), rejection)
    const response = renderUserCodePage(call, key, { code, error: message, status: error.status })
    response.headers.set('retry-after', String(error.retryAfterSeconds))
    return response
  }
  return renderUserCodePage(call, key, {
    code,
    error: getRequestWords(ctx).text('device.wrong'),
    status: 400,
  })
}
