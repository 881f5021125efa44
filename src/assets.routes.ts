import type { H3 } from 'h3'
import { STYLESHEET, STYLESHEET_PATH } from './assets/stylesheet.ts'

const YEAR_SECONDS = 31_536_000

/** What the hosted pages are made of beside HTML. Paths hold a hash of the content, hence the caching for ever. */
export function addAssetRoutes(app: H3): void {
  app.get(
    STYLESHEET_PATH,
    () =>
      new Response(STYLESHEET, {
        headers: {
          'content-type': 'text/css; charset=utf-8',
          'cache-control': `public, max-age=${YEAR_SECONDS}, immutable`,
          'x-content-type-options': 'nosniff',
        },
      }),
  )
}
