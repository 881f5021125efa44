import { getRouterParam, type H3 } from 'h3'
import type { TenantCall } from '../../access/endpoint.http.ts'
import { loadMessageFrame } from '../../access/message-tenant.ts'
import { type AccountPage, createPageHandlers } from '../../account/pages/account-page.http.ts'
import { env } from '../../core/env.ts'
import { NotFound } from '../../core/errors.ts'
import { renderMail } from '../../delivery/mail.pages.tsx'
import { getRequestWords } from '../../languages/request-language.ts'
import type { Words } from '../../languages/translations.ts'
import { renderMailDocument } from '../../pages/mail-document.http.ts'
import type { PageTenant } from '../../pages/page-shell.pages.tsx'
import { renderPage } from '../../pages/render-page.pages.tsx'
import { addPageRoute, renderComponent } from '../../pages/responses.http.ts'
import { buildAccountSamples } from './account-samples.pages.tsx'
import { buildOutcomeSamples } from './outcome-samples.pages.tsx'
import { PreviewPage } from './preview.pages.tsx'
import { buildSampleMails } from './sample-mails.ts'
import { buildSignInSamples } from './sign-in-samples.pages.tsx'

/** The pages on which a person meets a tenant, by name. Their forms lead nowhere. */
export const buildSamplePages = (words: Words, tenant: PageTenant, now = new Date()) => ({
  ...buildSignInSamples(words, tenant, now),
  ...buildOutcomeSamples(words, tenant, now),
  ...buildAccountSamples(tenant, now),
})

const PATH = '/brand/preview'

const loadSampleMails = async ({ ctx, tenant }: TenantCall) =>
  buildSampleMails(await loadMessageFrame(ctx, null), {
    clientName: 'Example app',
    userName: 'Grace Hopper',
    uri: `${env.baseUrl}/${tenant.tenantId}/enroll?token=example`,
    time: new Date(),
  })

/** The entry of a sample that the path names. */
function getSample<Sample>({ event }: TenantCall, samples: Record<string, Sample>): Sample {
  const name = getRouterParam(event, 'name') ?? ''
  if (!Object.hasOwn(samples, name)) throw new NotFound('sample')
  return samples[name] as Sample
}

/** A page for administrators of the tenant; for other users it does not exist. */
const createPreview = (path: string, show: (call: TenantCall) => Promise<Response>): AccountPage => ({
  root: PATH,
  path,
  show: async ({ call, ctx }) => {
    if (!ctx.scopes.has('tenant:read')) throw new NotFound('page')
    return show(call)
  },
})

const buildCallSamples = ({ ctx, tenant }: TenantCall) => buildSamplePages(getRequestWords(ctx), tenant)

const PREVIEWS = {
  '': createPreview('', async (call) =>
    renderComponent(
      call.ctx,
      PreviewPage,
      {
        tenant: call.tenant,
        path: `/${call.tenant.tenantId}${PATH}`,
        pages: Object.keys(buildCallSamples(call)),
        mails: Object.keys(await loadSampleMails(call)),
      },
      { showsFrame: true },
    ),
  ),
  '/page/:name': createPreview('', async (call) =>
    renderPage(
      getSample(call, buildCallSamples(call)),
      { frameAncestor: env.baseUrl, isSample: true },
      call.ctx,
    ),
  ),
  '/mail/:name': createPreview('', async (call) =>
    renderMailDocument(renderMail(getSample(call, await loadSampleMails(call)))),
  ),
}

/** The preview of the brand: all mails, and the pages on which a person meets the tenant. */
export function addPreviewRoutes(app: H3): void {
  for (const [path, page] of Object.entries(PREVIEWS))
    addPageRoute(app, `/:tenant${PATH}${path}`, createPageHandlers(page))
}
