import type { H3 } from 'h3'
import { env } from '../core/env.ts'
import { SYSTEM_TENANT } from '../core/scopes.ts'
import { addReadRoute } from '../http/read-routes.http.ts'
import { renderPage } from '../pages/render-page.pages.tsx'
import { DEMO_TENANT } from './demo.ts'
import { addDemoClientRoutes } from './demo-client.routes.ts'
import { StartPage } from './development.pages.tsx'
import { addInboxRoutes } from './inbox.routes.ts'
import { listStartUrls } from './start-urls.ts'

/** The start page at `/`, the inbox and the demo client of a development server. */
export function addDevelopmentRoutes(app: H3): void {
  const urls = listStartUrls(env.demo ? DEMO_TENANT : SYSTEM_TENANT)
  // A REST path answers a browser with an error.
  const links = urls.filter(({ label }) => label !== 'REST')
  addReadRoute(app, '/', () => renderPage(StartPage({ urls: links })))
  addInboxRoutes(app)
  addDemoClientRoutes(app)
}
