import type { H3 } from 'h3'
import { readJson, requestMeta, singleParams, targetOf } from '../http.ts'
import { errorPage, pageOf, uncachedJson } from '../oidc/answers.routes.ts'
import { addRoute, type Call } from '../oidc/call.routes.ts'
import { errorResponse } from '../rest/respond.ts'
import { ACCEPT_CH, describeDevice } from './device.ts'
import { EnrolledPage, EnrolmentGonePage, EnrolmentPage } from './enrolment.pages.tsx'
import { findEnrolment, finishEnrolment, startEnrolment } from './enrolment.ts'

const jsonError: Parameters<typeof addRoute>[3] = (thrown, event) =>
  errorResponse(requestMeta(event).requestId, thrown)

/**
 * Where people enrol credentials: a page, and what its script calls. The token is all that they show; it stands in the
 * body of every POST, which other sites cannot send as JSON.
 */
export function addEnrolmentRoutes(app: H3): void {
  addRoute(app, '/:tenant/enroll', { GET: show }, errorPage)
  addRoute(
    app,
    '/:tenant/enroll/done',
    { GET: async ({ tenant }) => pageOf(EnrolledPage, { tenant }) },
    errorPage,
  )
  addRoute(app, '/:tenant/enroll/options', { POST: start }, jsonError)
  addRoute(app, '/:tenant/enroll/credential', { POST: finish }, jsonError)
}

/** Reads only: mail programs open links to look at them. */
async function show({ event, tenant, ctx }: Call): Promise<Response> {
  const { token = '' } = singleParams(targetOf(event).query)
  const enrolment = await findEnrolment(ctx, token)
  if (!enrolment) return pageOf(EnrolmentGonePage, { tenant }, { status: 410 })
  const props = { tenant, token, path: `/${ctx.tenant}/enroll`, label: enrolment.label }
  const response = pageOf(EnrolmentPage, props, { runsScript: true })
  response.headers.set('accept-ch', ACCEPT_CH)
  return response
}

const start = async ({ event, ctx }: Call): Promise<Response> =>
  uncachedJson(await startEnrolment(ctx, await readJson(event)))

async function finish({ event, ctx }: Call): Promise<Response> {
  const device = describeDevice(ctx.tenant, event.req.headers, { ip: ctx.ip, now: new Date() })
  return uncachedJson(await finishEnrolment(ctx, await readJson(event), device), { status: 201 })
}
