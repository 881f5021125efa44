import { createContext, type VNode } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { cspHash, themeCss } from '../../assets/theme.ts'

export type RenderOptions = {
  /** Accent as #rrggbb; that of the page's `client` when left out. */
  themeColor?: string | null
  /** URLs or origins that the page's form may lead to by redirects, such as the request's redirect_uri. */
  formActionOrigins?: readonly string[]
  /** The page has a script of ours, which may call us. */
  runsScript?: boolean
  /** The one origin whose pages may frame this one; none when left out. */
  frameAncestor?: string
  /** The page is shown in a popup window: without what stands around the card. */
  isPopup?: boolean
  /** HTTP status, 200 when left out. */
  status?: number
}

/** The page's one inline style, which `renderPage` admits by its hash and the shell writes. */
export const ThemeStyle = createContext<string | null>(null)

/** Whether the page is shown in a popup window. */
export const PopupDisplay = createContext(false)

/** URLs admit more in a host: of what has a meaning in a policy, `;` would begin another directive. */
const PLAIN_HOST = /^[\w.-]+$/

/** The CSP source for an origin; null for a host that it cannot name, such as an IPv6 address (CSP 3, section 2.3.1). */
const originSource = ({ hostname, origin }: URL): string | null => (PLAIN_HOST.test(hostname) ? origin : null)

/** The CSP source for where a form's answer may redirect to: an origin, or the scheme of a native application. */
function formActionSource(target: string): string | null {
  if (!URL.canParse(target)) return null
  const url = new URL(target)
  const isWeb = url.protocol === 'https:' || url.protocol === 'http:'
  // Other schemes have no origin, and an IPv6 address is no source.
  return isWeb && !url.hostname.startsWith('[') ? originSource(url) : url.protocol
}

function securityPolicy(style: string | null, options: RenderOptions): string {
  const targets = options.formActionOrigins ?? []
  const frameAncestor = options.frameAncestor ? originSource(new URL(options.frameAncestor)) : null
  const formAction = new Set(["'self'", ...targets.map(formActionSource).filter((source) => source !== null)])
  return [
    "default-src 'none'",
    ...(options.runsScript ? ["script-src 'self'", "connect-src 'self'"] : []),
    `style-src 'self'${style ? ` ${cspHash(style)}` : ''}`,
    'img-src https: data:',
    // Browsers apply it to the redirects that answer a form, too: hence the client's origin.
    `form-action ${[...formAction].join(' ')}`,
    `frame-ancestors ${frameAncestor ?? "'none'"}`,
    "base-uri 'none'",
  ].join('; ')
}

/** Renders a hosted page to a response with the headers that every page has: no script but one of ours and
 *  no frame but one origin's where the page says so, never cached, no referrer (the URL holds the handle of the interaction). */
export function renderPage(page: VNode, options: RenderOptions = {}): Response {
  const client = (page.props as { client?: { themeColor?: string | null } | null }).client
  const style = themeCss(options.themeColor ?? client?.themeColor)
  const html = renderToString(
    <PopupDisplay.Provider value={options.isPopup ?? false}>
      <ThemeStyle.Provider value={style}>{page}</ThemeStyle.Provider>
    </PopupDisplay.Provider>,
  )
  return new Response(`<!doctype html>${html}`, {
    status: options.status ?? 200,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': securityPolicy(style, options),
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      // It knows no origins: where one may frame the page, frame-ancestors alone says which.
      ...(!options.frameAncestor && { 'x-frame-options': 'DENY' }),
    },
  })
}
