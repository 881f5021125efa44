import type { H3 } from 'h3'
import { addRoute } from '../access/endpoint.http.ts'
import { addReadRoute } from '../http/read-routes.http.ts'
import { FAVICON_PATH, renderFavicon } from '../pages/assets/favicon.ts'
import { getTenantName } from '../pages/page-shell.pages.tsx'
import { renderErrorPage } from '../pages/responses.http.ts'

const renderIcon = (svg: string): Response =>
  new Response(svg, {
    headers: {
      'content-type': 'image/svg+xml',
      'cache-control': 'public, max-age=3600',
      // The icon may be opened as a document.
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
      'x-content-type-options': 'nosniff',
    },
  })

/** The icons of browser tabs: the initial of the tenant in its color, and one for pages of no tenant. */
export function addFaviconRoutes(app: H3): void {
  addReadRoute(app, FAVICON_PATH, () => renderIcon(renderFavicon('Vestibule')))
  addRoute(
    app,
    `/:tenant${FAVICON_PATH}`,
    { GET: async ({ tenant }) => renderIcon(renderFavicon(getTenantName(tenant), tenant)) },
    renderErrorPage,
  )
}
