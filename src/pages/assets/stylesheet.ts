import { toAssetPath } from './asset-path.ts'
import { PAGES_CSS } from './pages.css.ts'

/** The stylesheet of all pages. A module, because tsc does not copy .css files to dist. */
export const STYLESHEET = PAGES_CSS

export const STYLESHEET_PATH = toAssetPath(STYLESHEET, 'css')
