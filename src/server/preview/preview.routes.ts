import { getRouterParam, type H3 } from 'h3'
import * as z from 'zod'
import type { TenantCall } from '../../access/endpoint.http.ts'
import { frameMessage, toMessageTenant } from '../../access/message-tenant.ts'
import type { CachedTenant } from '../../access/tenant-cache.ts'
import {
  type AccountPage,
  type AccountVisit,
  createPageHandlers,
} from '../../account/pages/account-page.http.ts'
import { env } from '../../core/env.ts'
import { NotFound } from '../../core/errors.ts'
import { renderMail } from '../../delivery/mail.pages.tsx'
import { addTenantLanguage, getRequestWords } from '../../languages/request-language.ts'
import type { Words } from '../../languages/translations.ts'
import { renderMailDocument } from '../../pages/mail-document.http.ts'
import type { PageTenant } from '../../pages/page-shell.pages.tsx'
import { renderPage } from '../../pages/render-page.pages.tsx'
import { addPageRoute, renderComponent } from '../../pages/responses.http.ts'
import { TenantSettingsPatch } from '../../tenants/tenants.fields.ts'
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

function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** An uploaded image as it is, because it may not be saved. */
const toSampleImages = ({ logoUrl, darkLogoUrl }: CachedTenant) => ({
  ...(logoUrl?.startsWith('data:') && { logoUrl }),
  ...(darkLogoUrl?.startsWith('data:') && { darkLogoUrl }),
})

const buildCallMails = ({ ctx, tenant }: TenantCall) => {
  const shown = { ...toMessageTenant(tenant.tenantId, tenant), ...toSampleImages(tenant) }
  return buildSampleMails(frameMessage(ctx, shown, null), {
    clientName: 'Example app',
    userName: 'Grace Hopper',
    uri: `${env.baseUrl}/${tenant.tenantId}/enroll?token=example`,
    time: new Date(),
  })
}

/** The entry of a sample that the path names. */
function getSample<Sample>({ event }: TenantCall, samples: Record<string, Sample>): Sample {
  const name = getRouterParam(event, 'name') ?? ''
  if (!Object.hasOwn(samples, name)) throw new NotFound('sample')
  return samples[name] as Sample
}

/**
 * The settings of a form, in JSON, that are valid. What is not may still be typed, and has the stored value.
 */
function parseSettings(text: string): Partial<CachedTenant> {
  const given = z.record(z.string(), z.unknown()).catch({}).parse(tryParseJson(text))
  return Object.fromEntries(
    Object.entries(TenantSettingsPatch.shape).flatMap(([name, shape]) => {
      const parsed = Object.hasOwn(given, name) ? shape.safeParse(given[name]) : null
      return parsed?.success ? [[name, parsed.data]] : []
    }),
  )
}

/** The call with settings that are not saved. */
function applySettings(call: TenantCall, settings: Partial<CachedTenant>): TenantCall {
  const tenant = { ...call.tenant, ...settings }
  if (call.ctx.language) addTenantLanguage(call.ctx.language, tenant)
  return { ...call, tenant }
}

/**
 * A page for administrators of the tenant; for other users it does not exist. The console shows it with settings that are
 * not saved.
 */
function createPreview(path: string, show: (call: TenantCall) => Promise<Response>): AccountPage {
  const showTo = ({ ctx, call }: AccountVisit, settings?: string) => {
    if (!ctx.scopes.has('tenant:read')) throw new NotFound('page')
    return show(settings === undefined ? call : applySettings(call, parseSettings(settings)))
  }
  return {
    root: PATH,
    path,
    show: (visit) => showTo(visit),
    view: async (visit, { settings }) => showTo(visit, settings),
  }
}

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
        mails: Object.keys(buildCallMails(call)),
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
    renderMailDocument(renderMail(getSample(call, buildCallMails(call)), { isSample: true })),
  ),
}

/** The preview of the brand: all mails, and the pages on which a person meets the tenant. */
export function addPreviewRoutes(app: H3): void {
  for (const [path, page] of Object.entries(PREVIEWS))
    addPageRoute(app, `/:tenant${PATH}${path}`, createPageHandlers(page))
}
