import { createHash } from 'node:crypto'
import { PAGES_CSS } from './pages.css.ts'

/** The stylesheet of all pages. In a module, since tsc does not copy .css files into dist. */
export const STYLESHEET = PAGES_CSS

/** Named by its content, so that it can be cached for ever. */
export const STYLESHEET_PATH = `/assets/${createHash('sha256').update(STYLESHEET).digest('hex').slice(0, 16)}.css`
