import { getQuery, getRouterParam, type H3 } from 'h3'
import { readClientLogo } from '../access/client-cache.ts'
import type { TenantCall } from '../access/endpoint.http.ts'
import { NotFound } from '../core/errors.ts'
import { addReadRoute } from '../http/read-routes.http.ts'
import { BRAND_IMAGES, type BrandImage, hashImage, parseDataImage } from '../model/brand-images.ts'
import { FAVICON_PATH, renderFavicon } from '../pages/assets/favicon.ts'
import { getTenantName } from '../pages/page-shell.pages.tsx'
import { addPageRoute } from '../pages/responses.http.ts'

const YEAR_SECONDS = 31_536_000
const HOUR_SECONDS = 3600

const renderImage = (content: BodyInit, type: string, caching: string): Response =>
  new Response(content, {
    headers: {
      'content-type': type,
      'cache-control': `public, max-age=${caching}`,
      // The image may be opened as a document.
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
      'x-content-type-options': 'nosniff',
    },
  })

const renderIcon = (svg: string): Response => renderImage(svg, 'image/svg+xml', `${HOUR_SECONDS}`)

/** Responds with the image of a data URL. The version of the path makes it cacheable for as long as it is the same. */
function showImage({ event }: TenantCall, url: string | null | undefined): Response {
  const image = parseDataImage(url)
  if (!url || !image) throw new NotFound('image')
  const isCurrent = getQuery(event).v === hashImage(url)
  const caching = isCurrent ? `${YEAR_SECONDS}, immutable` : '60'
  return renderImage(new Uint8Array(image.content), image.type, caching)
}

async function showTenantImage(call: TenantCall): Promise<Response> {
  const name = getRouterParam(call.event, 'image')
  const setting = (Object.keys(BRAND_IMAGES) as BrandImage[]).find((key) => BRAND_IMAGES[key] === name)
  return showImage(call, setting && call.tenant[setting])
}

async function showClientLogo(call: TenantCall): Promise<Response> {
  const clientId = getRouterParam(call.event, 'client', { decode: true }) ?? ''
  return showImage(call, await readClientLogo(call.tenant.tenantId, clientId))
}

/**
 * The images of tenants and clients: those that were set as data URLs, and the icon of browser tabs with the initial of the
 * tenant in its color. Pages of no tenant have an icon, too.
 */
export function addBrandRoutes(app: H3): void {
  addReadRoute(app, FAVICON_PATH, () => renderIcon(renderFavicon('Vestibule')))
  addPageRoute(app, `/:tenant${FAVICON_PATH}`, {
    GET: async ({ tenant }) => renderIcon(renderFavicon(getTenantName(tenant), tenant)),
  })
  addPageRoute(app, '/:tenant/brand/:image', { GET: showTenantImage })
  addPageRoute(app, '/:tenant/brand/clients/:client', { GET: showClientLogo })
}
