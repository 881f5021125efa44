import type { H3 } from 'h3'
import { findClient } from '../access/client-cache.ts'
import { addRoute, type TenantCall } from '../access/endpoint.http.ts'
import { sha256Base64url } from '../core/crypto.ts'
import { Forbidden } from '../core/errors.ts'
import { ACCEPT_CH, describeDevice } from '../credentials/device.ts'
import {
  findEnrollment,
  finishEnrollment,
  readEnrollmentFinish,
  startEnrollment,
} from '../credentials/enrollment.ts'
import {
  cancelRecovery,
  findWaitingEnrollment,
  isCancelable,
} from '../credentials/second-factors/recovery.ts'
import { getRequestMeta, readQuery } from '../http/request.http.ts'
import { readForm, readJson, requireSingleParams } from '../http/request-body.http.ts'
import { createCsrfToken, isCsrfToken } from '../pages/csrf.ts'
import { answerOnce, createSentForm, findAnswer } from '../pages/form-answers.ts'
import { addPageRoute, createUncachedJson, renderComponent } from '../pages/responses.http.ts'
import { buildInitiationUrl, openNextClient } from '../pages/restart-url.ts'
import { toErrorResponse } from '../rest/responses.ts'
import {
  CancelEnrollmentPage,
  EnrolledPage,
  EnrollmentCanceledPage,
  EnrollmentExpiredPage,
  EnrollmentPage,
  EnrollmentWaitingPage,
} from './enrollment.pages.tsx'

const renderJsonError: Parameters<typeof addRoute>[3] = (thrown, event) =>
  toErrorResponse(getRequestMeta(event).requestId, thrown)

/**
 * The enrollment page and the requests of its script. The token is the only credential; it is in the JSON
 * body of every POST, which other sites cannot send.
 */
export function addEnrollmentRoutes(app: H3): void {
  addPageRoute(app, '/:tenant/enroll', { GET: showEnrollmentPage })
  addPageRoute(app, '/:tenant/enroll/cancel', { GET: showCancelPage, POST: handleCancel })
  addPageRoute(app, '/:tenant/enroll/done', { GET: showEnrolledPage })
  addRoute(app, '/:tenant/enroll/options', { POST: handleEnrollmentStart }, renderJsonError)
  addRoute(app, '/:tenant/enroll/credential', { POST: handleEnrollmentFinish }, renderJsonError)
}

/**
 * How a person continues: after an invitation, by the parameter `next_client`, with the client that it was made
 * for, or without one; with `next=account` on the account pages, which led here.
 */
function readOnward({ event, ctx }: TenantCall) {
  const { next_client: sealed, next } = requireSingleParams(readQuery(event))
  if (next === 'account')
    return { clientId: null, query: '?next=account', skipTo: `/${ctx.tenant}/account/sign-in-methods` }
  if (sealed === undefined) return null
  const query = `?${new URLSearchParams({ next_client: sealed })}`
  return {
    clientId: openNextClient(ctx.tenant, sealed),
    query,
    skipTo: `/${ctx.tenant}/invitation/accepted${query}`,
  }
}

async function showEnrolledPage(call: TenantCall): Promise<Response> {
  const { tenant, ctx } = call
  const onward = readOnward(call)
  const client = onward?.clientId ? await findClient(ctx.tenant, onward.clientId) : null
  return renderComponent(ctx, EnrolledPage, {
    tenant,
    client,
    startAt: buildInitiationUrl(ctx.tenant, client),
  })
}

/** Changes nothing, because mail programs open links to preview them. */
async function showEnrollmentPage(call: TenantCall): Promise<Response> {
  const { event, tenant, ctx } = call
  const { token = '' } = requireSingleParams(readQuery(event))
  const enrollment = await findEnrollment(ctx, token)
  if (!enrollment) {
    const usableAt = await findWaitingEnrollment(ctx, token)
    return usableAt
      ? renderComponent(ctx, EnrollmentWaitingPage, { tenant, usableAt }, { status: 403 })
      : renderComponent(ctx, EnrollmentExpiredPage, { tenant }, { status: 410 })
  }
  const path = `/${ctx.tenant}/enroll`
  const props = { tenant, token, path, label: enrollment.label, onward: readOnward(call) }
  const response = renderComponent(ctx, EnrollmentPage, props, { runsScript: true })
  response.headers.set('accept-ch', ACCEPT_CH)
  return response
}

const readCancelToken = ({ event }: TenantCall): string => requireSingleParams(readQuery(event)).token ?? ''

/** Changes nothing, because mail programs open links to preview them. */
async function showCancelPage(call: TenantCall): Promise<Response> {
  const { tenant, ctx } = call
  const token = readCancelToken(call)
  if (!(await isCancelable(ctx, token)))
    return renderComponent(ctx, EnrollmentExpiredPage, { tenant }, { status: 410 })
  const interaction = {
    action: `/${ctx.tenant}/enroll/cancel?token=${encodeURIComponent(token)}`,
    csrf: createCsrfToken('enrollment', ctx.tenant, sha256Base64url(token)),
  }
  return renderComponent(ctx, CancelEnrollmentPage, { tenant, interaction })
}

async function handleCancel(call: TenantCall): Promise<Response> {
  const { event, tenant, ctx } = call
  const token = readCancelToken(call)
  const form = await readForm(event)
  if (!isCsrfToken(form.csrf, 'enrollment', ctx.tenant, sha256Base64url(token)))
    throw new Forbidden('This page was out of date. Open the link again.')
  const sent = createSentForm(call, ['enrollment', sha256Base64url(token)], form)
  const { response } = await answerOnce(sent, async () =>
    (await cancelRecovery(ctx, token))
      ? renderComponent(ctx, EnrollmentCanceledPage, { tenant })
      : renderComponent(ctx, EnrollmentExpiredPage, { tenant }, { status: 410 }),
  )
  return response
}

const handleEnrollmentStart = async ({ event, ctx }: TenantCall): Promise<Response> =>
  createUncachedJson(await startEnrollment(ctx, await readJson(event)))

/** Stores the passkey once: the same request gets the response of the first one. */
async function handleEnrollmentFinish(call: TenantCall): Promise<Response> {
  const { event, ctx } = call
  const device = describeDevice(ctx.tenant, event.req.headers, { ip: ctx.ip, now: new Date() })
  const input = readEnrollmentFinish(await readJson(event))
  const { token, response } = input
  const { clientDataJSON, attestationObject } = response.response
  const owner = ['enrollment-credential', sha256Base64url(token)]
  const sent = createSentForm(call, owner, { clientDataJSON, attestationObject })
  const finish = async () => createUncachedJson(await finishEnrollment(ctx, input, device), { status: 201 })
  if (await findEnrollment(ctx, token)) return (await answerOnce(sent, finish)).response
  // The request may have used the link.
  return (await findAnswer(sent)) ?? finish()
}
