import type { H3 } from 'h3'
import { Forbidden, RateLimited } from '../../errors.ts'
import { readForm, singleParams, targetOf } from '../../http.ts'
import { after } from '../../time.ts'
import { errorPage, oauthError, pageOf, seeOther, uncachedJson, withCookies } from '../answers.routes.ts'
import { addRoute, type Call } from '../call.routes.ts'
import { limitUnproven, readClientCall } from '../client-auth/client-call.routes.ts'
import { INTERACTION_COOKIE, readCookie } from '../cookies.ts'
import { csrfOf, isCsrf, openInteraction } from '../signin/interactions.ts'
import { refusalWords } from '../signin/signin.pages.tsx'
import { bindBrowser } from '../signin/signin-visit.routes.ts'
import { DeviceApprovedPage, DeviceDeniedPage, UserCodePage } from './device.pages.tsx'
import { startDeviceAuthorization } from './device-authorization.ts'
import { findDeviceRequest } from './device-request.ts'
import { readUserCode, shownUserCode } from './device-user-codes.ts'

/** Devices without a browser, or without a keyboard (RFC 8628): where they begin, and where their people enter the code. */
export function addDeviceRoutes(app: H3): void {
  addRoute(app, '/:tenant/oidc/device', { POST: start }, oauthError, 'token.refused')
  addRoute(app, '/:tenant/device', { GET: show, POST: enter }, errorPage)
  addRoute(
    app,
    '/:tenant/device/approved',
    { GET: async ({ tenant }) => pageOf(DeviceApprovedPage, { tenant }) },
    errorPage,
  )
  addRoute(
    app,
    '/:tenant/device/denied',
    { GET: async ({ tenant }) => pageOf(DeviceDeniedPage, { tenant }) },
    errorPage,
  )
}

async function start(call: Call): Promise<Response> {
  const request = await readClientCall(call)
  await limitUnproven(request)
  return uncachedJson(await startDeviceAuthorization(request))
}

/** More than anybody enters, and little enough to be shown again. */
const MAX_ENTERED_CHARACTERS = 40

type Shown = { code?: string; fault?: string; status?: number }

function page({ tenant }: Call, key: string, { code, fault, status }: Shown): Response {
  const { tenantId } = tenant
  const interaction = { action: `/${tenantId}/device`, csrf: csrfOf('device', tenantId, key) }
  return pageOf(UserCodePage, { tenant, interaction, code, fault }, { status })
}

/** A code in the address is filled in and no more: somebody else may have made the link (RFC 8628, sections 3.3.1 and 5.4). */
async function show(call: Call): Promise<Response> {
  const { event, ctx } = call
  const { user_code: entered = '' } = singleParams(targetOf(event).query)
  const code = readUserCode(entered)
  const browser = bindBrowser(ctx.tenant, readCookie(event.req.headers.get('cookie'), INTERACTION_COOKIE))
  return withCookies(page(call, browser.key, { code: code ? shownUserCode(code) : '' }), [browser.cookie])
}

/** Goes on to the sign-in. What is wrong is said at once, beside what was entered: to send it again does no harm. */
async function enter(call: Call): Promise<Response> {
  const { event, ctx } = call
  const { csrf, user_code: entered = '' } = await readForm(event)
  const code = entered.slice(0, MAX_ENTERED_CHARACTERS)
  const key = readCookie(event.req.headers.get('cookie'), INTERACTION_COOKIE)
  if (!key || !isCsrf(csrf, 'device', ctx.tenant, key))
    throw new Forbidden('This page was out of date. Go back, reload it and try again.')
  try {
    const request = await findDeviceRequest(ctx, code)
    if (request) return seeOther(`/${ctx.tenant}/signin/${await openInteraction(ctx.tenant, request, key)}`)
  } catch (error) {
    if (!(error instanceof RateLimited)) throw error
    const retryAt = after(new Date(), error.retryAfterSeconds).toISOString()
    const fault = refusalWords({ page: 'code', reason: 'attempts', retryAt })
    const response = page(call, key, { code, fault, status: error.status })
    response.headers.set('retry-after', String(error.retryAfterSeconds))
    return response
  }
  const fault = 'That code is wrong, has expired or was used. Check it, or get a new one on your device.'
  return page(call, key, { code, fault, status: 400 })
}
