import type { H3 } from 'h3'
import type { TenantCall } from '../access/endpoint.http.ts'
import { type PageProblem, toPageProblem } from '../account/pages/page-problem.ts'
import { consumeLimit } from '../coordination/rate-limits.ts'
import { sha256Base64url } from '../core/crypto.ts'
import { Forbidden, NotFound } from '../core/errors.ts'
import { readQuery } from '../http/request.http.ts'
import { readForm, requireSingleParams } from '../http/request-body.http.ts'
import { getRequestWords } from '../languages/request-language.ts'
import {
  createOrganizationDomain,
  getOrganizationDomain,
  listOrganizationDomains,
  verifyOrganizationDomain,
} from '../organizations/organization-domains.ts'
import { bindBrowser, readBrowserKey } from '../pages/browser-key.ts'
import { buildCookie, nameCookie, readCookie } from '../pages/cookies.ts'
import { createCsrfToken, isCsrfToken } from '../pages/csrf.ts'
import { answerOnce, createSentForm } from '../pages/form-answers.ts'
import { addCookies, addPageRoute, redirectTo, renderComponent } from '../pages/responses.http.ts'
import { SetupExpiredPage, SetupPage, SetupStartPage } from './setup.pages.tsx'
import { findSetupVisit, isSetupLink, openSetupLink, type SetupVisit, VISIT_SECONDS } from './setup-links.ts'
import { findSetupProvider, saveSetupProvider, testSetupProvider } from './setup-provider.http.ts'

/** The page on which somebody without an account sets up one organization. */
export function addOrganizationSetupRoutes(app: H3): void {
  addPageRoute(app, '/:tenant/organization-setup', { GET: showPage, POST: handleForm })
}

const toPath = ({ ctx }: TenantCall): string => `/${ctx.tenant}/organization-setup`
const readLinkToken = ({ event }: TenantCall): string => requireSingleParams(readQuery(event)).token ?? ''
const readCookies = ({ event }: TenantCall): string | null => event.req.headers.get('cookie')
const toBinding = ({ ctx }: TenantCall, ...parts: string[]): string[] => [
  ctx.tenant,
  ...parts.map(sha256Base64url),
]

/** The visit of this browser, with its token. */
async function findVisit(call: TenantCall): Promise<{ token: string; visit: SetupVisit } | null> {
  const token = readCookie(readCookies(call), nameCookie('os', call.ctx.tenant))
  const visit = token && (await findSetupVisit(call.ctx, token))
  return visit ? { token, visit } : null
}

const renderExpired = ({ ctx, tenant }: TenantCall): Response =>
  renderComponent(ctx, SetupExpiredPage, { tenant }, { status: 410 })

/** Opens no link, because mail programs open links to preview them. */
async function showPage(call: TenantCall): Promise<Response> {
  const { ctx, tenant } = call
  const token = readLinkToken(call)
  if (token && (await isSetupLink(ctx, token))) {
    const { key, cookie } = bindBrowser(ctx.tenant, readCookies(call))
    const form = {
      action: `${toPath(call)}?${new URLSearchParams({ token })}`,
      csrf: createCsrfToken('organization-setup', ...toBinding(call, token, key)),
    }
    return addCookies(renderComponent(ctx, SetupStartPage, { tenant, form }), [cookie])
  }
  const found = await findVisit(call)
  if (!found) return renderExpired(call)
  // The browser that has opened the link goes back to it.
  return token ? redirectTo(toPath(call)) : renderSetup(call, found)
}

async function handleForm(call: TenantCall): Promise<Response> {
  const form = await readForm(call.event)
  const token = readLinkToken(call)
  return token ? handleStart(call, token, form) : handleSetupForm(call, form)
}

const requireCsrfToken = (form: Record<string, string>, binding: string[]): void => {
  if (!isCsrfToken(form.csrf, 'organization-setup', ...binding))
    throw new Forbidden('This page was out of date. Open the link again.')
}

/** Leads to the page without the token in its URL. */
async function handleStart(call: TenantCall, token: string, form: Record<string, string>): Promise<Response> {
  const { ctx } = call
  const key = readBrowserKey(ctx.tenant, readCookies(call)) ?? ''
  requireCsrfToken(form, toBinding(call, token, key))
  const sent = createSentForm(call, ['organization-setup', sha256Base64url(token)], form, ['ix', 'os'])
  const { response } = await answerOnce(sent, async () => {
    const visitToken = await openSetupLink(ctx, token)
    if (!visitToken) return renderExpired(call)
    return redirectTo(toPath(call), [buildCookie(nameCookie('os', ctx.tenant), visitToken, VISIT_SECONDS)])
  })
  return response
}

type Found = { token: string; visit: SetupVisit }
type Shown = { problem?: PageProblem; faults?: string[] | null }

/** Shows the page; `faults` are what a test of the provider found. */
async function renderSetup(
  call: TenantCall,
  { token, visit }: Found,
  { problem, faults = null }: Shown = {},
): Promise<Response> {
  const { ctx, organizationId, name } = visit
  const { rows } = await listOrganizationDomains(ctx, organizationId, { first: 50 })
  const { stored, callbackUrl } = await findSetupProvider(visit)
  const { csrf: _, clientSecret: _secret, ...values } = problem?.values ?? {}
  return renderComponent(
    ctx,
    SetupPage,
    {
      tenant: call.tenant,
      form: {
        action: toPath(call),
        csrf: createCsrfToken('organization-setup', ...toBinding(call, token)),
      },
      name,
      domains: rows,
      provider: { callbackUrl, isStored: stored !== null, ...stored },
      faults,
      values,
      messages: problem?.messages ?? [],
    },
    { status: problem?.status },
  )
}

/** The forms by their `step`: after one without a response of its own, the page is shown again. */
const FORMS: Record<
  string,
  (call: TenantCall, found: Found, form: Record<string, string>) => Promise<unknown>
> = {
  'add-domain': (_call, { visit }, { domain }) =>
    createOrganizationDomain(visit.ctx, visit.organizationId, { domain }),
  'check-domain': async (_call, { visit }, { id = '' }) => {
    const domain = await getOrganizationDomain(visit.ctx, id)
    if (domain.organizationId !== visit.organizationId) throw new NotFound('domain')
    await verifyOrganizationDomain(visit.ctx, id)
  },
  'save-provider': (_call, { visit }, form) => saveSetupProvider(visit, form),
  'test-provider': async (call, found) =>
    renderSetup(call, found, { faults: await testSetupProvider(found.visit) }),
}

async function handleSetupForm(call: TenantCall, form: Record<string, string>): Promise<Response> {
  const { ctx } = call
  const found = await findVisit(call)
  if (!found) return renderExpired(call)
  requireCsrfToken(form, toBinding(call, found.token))
  const sent = createSentForm(call, ['organization-setup', sha256Base64url(found.token)], form, ['os'])
  const { response } = await answerOnce(sent, async () => {
    const { step = '' } = form
    try {
      // Forms ask the DNS and the provider.
      await consumeLimit('useSetupLink', ctx.tenant, ctx.ip)
      const answer = Object.hasOwn(FORMS, step) ? await FORMS[step]?.(call, found, form) : null
      return answer instanceof Response ? answer : redirectTo(toPath(call))
    } catch (error) {
      const labels = {
        domain: 'label.domain',
        issuer: 'label.issuer',
        clientId: 'label.clientId',
        clientSecret: 'label.clientSecret',
      } as const
      const problem = toPageProblem(getRequestWords(ctx), error, labels, form)
      if (!problem) throw error
      return renderSetup(call, found, { problem })
    }
  })
  return response
}
