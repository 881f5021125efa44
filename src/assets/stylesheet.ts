import { assetPath } from './asset-path.ts'
import { PAGES_CSS } from './pages.css.ts'

/** The stylesheet of all pages. In a module, since tsc does not copy .css files into dist. */
export const STYLESHEET = PAGES_CSS

export const STYLESHEET_PATH = assetPath(STYLESHEET, 'css')
