import type { H3 } from 'h3'
import { compressText, type Encoding, selectEncoding } from '../http/compression.ts'
import { addReadRoute } from '../http/read-routes.http.ts'
import { CODE_SCRIPT, CODE_SCRIPT_PATH } from '../pages/assets/code-script.ts'
import { COPY_SCRIPT, COPY_SCRIPT_PATH } from '../pages/assets/copy-script.ts'
import { ENROLLMENT_SCRIPT, ENROLLMENT_SCRIPT_PATH } from '../pages/assets/enrollment-script.ts'
import { FORM_POST_SCRIPT, FORM_POST_SCRIPT_PATH } from '../pages/assets/form-post-script.ts'
import { LOCAL_TIME_SCRIPT, LOCAL_TIME_SCRIPT_PATH } from '../pages/assets/local-time-script.ts'
import {
  PASSKEY_CREATION_SCRIPT,
  PASSKEY_CREATION_SCRIPT_PATH,
} from '../pages/assets/passkey-creation-script.ts'
import { PASSKEY_SCRIPT, PASSKEY_SCRIPT_PATH } from '../pages/assets/passkey-script.ts'
import { PASSKEY_SIGNAL_SCRIPT, PASSKEY_SIGNAL_SCRIPT_PATH } from '../pages/assets/passkey-signal-script.ts'
import { STAY_SCRIPT, STAY_SCRIPT_PATH } from '../pages/assets/stay-script.ts'
import { STYLESHEET, STYLESHEET_PATH } from '../pages/assets/stylesheet.ts'
import { SUBMIT_SCRIPT, SUBMIT_SCRIPT_PATH } from '../pages/assets/submit-script.ts'
import { WEB_MESSAGE_SCRIPT, WEB_MESSAGE_SCRIPT_PATH } from '../pages/assets/web-message-script.ts'

const YEAR_SECONDS = 31_536_000

const STATIC_ASSETS = [
  { path: STYLESHEET_PATH, content: STYLESHEET, type: 'text/css' },
  { path: ENROLLMENT_SCRIPT_PATH, content: ENROLLMENT_SCRIPT, type: 'text/javascript' },
  { path: PASSKEY_SCRIPT_PATH, content: PASSKEY_SCRIPT, type: 'text/javascript' },
  { path: PASSKEY_CREATION_SCRIPT_PATH, content: PASSKEY_CREATION_SCRIPT, type: 'text/javascript' },
  { path: PASSKEY_SIGNAL_SCRIPT_PATH, content: PASSKEY_SIGNAL_SCRIPT, type: 'text/javascript' },
  { path: STAY_SCRIPT_PATH, content: STAY_SCRIPT, type: 'text/javascript' },
  { path: CODE_SCRIPT_PATH, content: CODE_SCRIPT, type: 'text/javascript' },
  { path: SUBMIT_SCRIPT_PATH, content: SUBMIT_SCRIPT, type: 'text/javascript' },
  { path: COPY_SCRIPT_PATH, content: COPY_SCRIPT, type: 'text/javascript' },
  { path: LOCAL_TIME_SCRIPT_PATH, content: LOCAL_TIME_SCRIPT, type: 'text/javascript' },
  { path: FORM_POST_SCRIPT_PATH, content: FORM_POST_SCRIPT, type: 'text/javascript' },
  { path: WEB_MESSAGE_SCRIPT_PATH, content: WEB_MESSAGE_SCRIPT, type: 'text/javascript' },
]

/** The slowest: assets are compressed once. */
const ASSET_QUALITY = 11

/** The content in every encoding, compressed when it is first asked for. */
function createEncodings(content: string): (encoding: Encoding | null) => string | Buffer<ArrayBuffer> {
  const compressed: Partial<Record<Encoding, Buffer<ArrayBuffer>>> = {}
  return (encoding) => {
    if (!encoding) return content
    compressed[encoding] ??= compressText(content, encoding, ASSET_QUALITY)
    return compressed[encoding]
  }
}

/**
 * Stylesheets and scripts of the hosted pages. The path contains a hash of the content, so it is cached
 * forever.
 */
export function addAssetRoutes(app: H3): void {
  for (const { path, content, type } of STATIC_ASSETS) {
    const encode = createEncodings(content)
    addReadRoute(app, path, ({ req }) => {
      const encoding = selectEncoding(req.headers.get('accept-encoding'))
      return new Response(encode(encoding), {
        headers: {
          'content-type': `${type}; charset=utf-8`,
          ...(encoding && { 'content-encoding': encoding }),
          vary: 'Accept-Encoding',
          'cache-control': `public, max-age=${YEAR_SECONDS}, immutable`,
          'x-content-type-options': 'nosniff',
        },
      })
    })
  }
}
