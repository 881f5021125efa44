import { cloneElement, createContext, type VNode } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { encodeText } from '../http/compression.ts'
import { localizeClient } from '../languages/localize-client.ts'
import { getAcceptedEncodings, getRequestPath, getRequestWords } from '../languages/request-language.ts'
import type { Words } from '../languages/translations.ts'
import type { Brand } from '../model/brand.ts'
import type { Reader } from '../model/language-sources.ts'
import { buildThemeCss, computeCspHash, selectBrand } from './assets/theme.ts'
import { LanguageReturn } from './parts/language-menu.pages.tsx'
import { ImageSources, toOriginSource } from './parts/page-images.pages.tsx'
import { PageScripts } from './parts/page-script.pages.tsx'
import { PageSecret } from './parts/page-secret.pages.tsx'
import { IsSample } from './parts/scripted-part.pages.tsx'
import { PageWords } from './parts/words.pages.tsx'

export type RenderOptions = {
  /**
   * Forms of the page may lead to a client. Browsers apply form-action to all redirects that follow a form, and only the
   * client knows where its own lead to, so the page has no such directive.
   */
  leadsElsewhere?: boolean
  /** The page has a script of this server, which may call it. */
  runsScript?: boolean
  /** The only origin that may frame the page; none by default. */
  frameAncestor?: string
  /** The page has a frame with a document of this server. */
  showsFrame?: boolean
  /** The page is shown in a popup window, without the tenant's name. */
  isPopup?: boolean
  /** The words of the page; by default those of the request. */
  words?: Words
  /** The menu of languages leads back to this path; by default to that of the request. Null for no menu. */
  languageReturn?: string | null
  /** The page is a sample, whose scripts do not run. */
  isSample?: boolean
  /** HTTP status, 200 by default. */
  status?: number
  /** Headers of this response only. */
  headers?: Record<string, string>
}

/** What is read of the client of a page, whose name, logo and links are shown in the language of the page. */
type ShownClient = Brand & { translations?: unknown }

/** The inline style of the page; the Content Security Policy allows it by its hash. */
export const ThemeStyle = createContext<string | null>(null)

/** Whether the page is shown in a popup window. */
export const PopupDisplay = createContext(false)

function buildSecurityPolicy(
  style: string | null,
  { imageSources, hasScripts }: { imageSources: Iterable<string>; hasScripts: boolean },
  options: RenderOptions,
): string {
  const frameAncestor = options.frameAncestor ? toOriginSource(new URL(options.frameAncestor)) : null
  return [
    "default-src 'none'",
    ...(options.runsScript || hasScripts ? ["script-src 'self'"] : []),
    ...(options.runsScript ? ["connect-src 'self'"] : []),
    `style-src 'self'${style ? ` ${computeCspHash(style)}` : ''}`,
    `img-src ${["'self'", 'data:', ...imageSources].join(' ')}`,
    ...(options.showsFrame ? ["frame-src 'self'"] : []),
    ...(options.leadsElsewhere ? [] : ["form-action 'self'"]),
    `frame-ancestors ${frameAncestor ?? "'none'"}`,
    "base-uri 'none'",
  ].join('; ')
}

/**
 * Renders a hosted page with the headers of every page: no script and no frame unless `options` allow one, no
 * caching, and no referrer, because the URL contains the handle of the interaction. Without a reader it is in English.
 */
export function renderPage(page: VNode, options: RenderOptions = {}, reader: Reader = {}): Response {
  const { tenant, client } = page.props as { tenant?: Brand | null; client?: ShownClient | null }
  const style = buildThemeCss(selectBrand(tenant, client))
  const words = options.words ?? getRequestWords(reader)
  const languageReturn =
    options.languageReturn === undefined ? getRequestPath(reader) : options.languageReturn
  const secret = { isShown: false }
  const imageSources = new Set<string>()
  const scripts = new Set<string>()
  const localized = client?.translations
    ? cloneElement(page, { client: localizeClient(client, words.language) })
    : page
  const html = renderToString(
    <PopupDisplay.Provider value={options.isPopup ?? false}>
      <ThemeStyle.Provider value={style}>
        <LanguageReturn.Provider value={languageReturn}>
          <PageSecret.Provider value={secret}>
            <PageScripts.Provider value={scripts}>
              <ImageSources.Provider value={imageSources}>
                <IsSample.Provider value={options.isSample ?? false}>
                  <PageWords.Provider value={words}>{localized}</PageWords.Provider>
                </IsSample.Provider>
              </ImageSources.Provider>
            </PageScripts.Provider>
          </PageSecret.Provider>
        </LanguageReturn.Provider>
      </ThemeStyle.Provider>
    </PopupDisplay.Provider>,
  )
  const { body, headers } = encodeText(
    `<!doctype html>${html}`,
    secret.isShown ? null : getAcceptedEncodings(reader),
  )
  return new Response(body, {
    status: options.status ?? 200,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-language': words.language,
      ...headers,
      vary: 'Accept-Encoding, Accept-Language, Cookie',
      'content-security-policy': buildSecurityPolicy(
        style,
        { imageSources, hasScripts: scripts.size > 0 },
        options,
      ),
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      // X-Frame-Options cannot name an origin: frame-ancestors allows the one that may frame the page.
      ...(!options.frameAncestor && { 'x-frame-options': 'DENY' }),
      ...options.headers,
    },
  })
}
