import type { H3 } from 'h3'
import { ENROLMENT_SCRIPT, ENROLMENT_SCRIPT_PATH } from './assets/enrolment-script.ts'
import { FORM_POST_SCRIPT, FORM_POST_SCRIPT_PATH } from './assets/form-post-script.ts'
import { STYLESHEET, STYLESHEET_PATH } from './assets/stylesheet.ts'
import { WEB_MESSAGE_SCRIPT, WEB_MESSAGE_SCRIPT_PATH } from './assets/web-message-script.ts'

const YEAR_SECONDS = 31_536_000

const ASSETS = [
  { path: STYLESHEET_PATH, content: STYLESHEET, type: 'text/css' },
  { path: ENROLMENT_SCRIPT_PATH, content: ENROLMENT_SCRIPT, type: 'text/javascript' },
  { path: FORM_POST_SCRIPT_PATH, content: FORM_POST_SCRIPT, type: 'text/javascript' },
  { path: WEB_MESSAGE_SCRIPT_PATH, content: WEB_MESSAGE_SCRIPT, type: 'text/javascript' },
]

/** What the hosted pages are made of beside HTML. Paths hold a hash of the content, hence the caching for ever. */
export function addAssetRoutes(app: H3): void {
  for (const { path, content, type } of ASSETS)
    app.get(
      path,
      () =>
        new Response(content, {
          headers: {
            'content-type': `${type}; charset=utf-8`,
            'cache-control': `public, max-age=${YEAR_SECONDS}, immutable`,
            'x-content-type-options': 'nosniff',
          },
        }),
    )
}
