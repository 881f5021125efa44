import { createHash } from 'node:crypto'
import { parseColor, type Rgb } from '../../core/colors.ts'
import { computeAccent, type Scheme } from '../../core/palette.ts'

/** Names and values of custom properties, as CSS declarations. */
export const toCssDeclarations = (values: Record<string, string>): string =>
  Object.entries(values)
    .map(([name, value]) => `--${name}:${value}`)
    .join(';')

const buildAccentCss = (theme: Rgb, scheme: Scheme): string => toCssDeclarations(computeAccent(theme, scheme))

/** The rules for a client's color in both schemes; null when it has no valid one. */
export function buildThemeCss(themeColor: string | null | undefined): string | null {
  const theme = parseColor(themeColor)
  if (!theme) return null
  return `:root{${buildAccentCss(theme, 'light')}}@media (prefers-color-scheme:dark){:root{${buildAccentCss(theme, 'dark')}}}`
}

/** The CSP source that allows exactly this inline style or script (CSP 3, section 2.3.1). */
export const computeCspHash = (content: string): string =>
  `'sha256-${createHash('sha256').update(content).digest('base64')}'`
