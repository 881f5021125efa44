import { createHash } from 'node:crypto'

/** Red, green and blue, 0 to 255. */
export type Rgb = readonly [red: number, green: number, blue: number]

const BLACK: Rgb = [0, 0, 0]
const WHITE: Rgb = [255, 255, 255]

/** The colors of the pages in both schemes. The contrast of text and controls meets WCAG 2.2 AA (tested). */
export const PALETTE = {
  light: {
    page: '#f3f4f6',
    surface: '#ffffff',
    raised: '#f6f7f9',
    text: '#16181d',
    muted: '#565d6b',
    line: '#e1e4e9',
    control: '#858c99',
    danger: '#b3261e',
    'danger-surface': '#fdf0ef',
    'success-surface': '#e7f4ec',
    success: '#1b6b3a',
  },
  dark: {
    page: '#0d0f13',
    surface: '#17191f',
    raised: '#1f2229',
    text: '#eceef2',
    muted: '#a4abb8',
    line: '#2c3039',
    control: '#727a88',
    danger: '#ffb3ab',
    'danger-surface': '#35191a',
    'success-surface': '#12301f',
    success: '#8fd8ab',
  },
} as const

/** The accent color of clients without one. */
export const DEFAULT_THEME = '#2f5bd8'

/** Minimum contrast of text (WCAG 2.2, 1.4.3) and of controls (1.4.11). */
const TEXT_CONTRAST = 4.5
const CONTROL_CONTRAST = 3
/** Below this contrast a filled button looks empty; its edge and text have the required contrast. */
const FILL_CONTRAST = { light: 1.25, dark: 1.8 } as const

/** Parses `#rgb` or `#rrggbb`; null for anything else, so that only hexadecimal digits reach a stylesheet. */
export function parseColor(text: string | null | undefined): Rgb | null {
  const digits = /^#([0-9a-f]{3}|[0-9a-f]{6})$/i.exec(text ?? '')?.[1]
  if (!digits) return null
  const pairs = digits.length === 3 ? [...digits].map((digit) => digit + digit) : (digits.match(/../g) ?? [])
  const [red = 0, green = 0, blue = 0] = pairs.map((pair) => Number.parseInt(pair, 16))
  return [red, green, blue]
}

export const toHex = (color: Rgb): string =>
  `#${color.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`

/** Relative luminance, 0 (black) to 1 (white) (WCAG 2.2, definition). */
function computeLuminance(color: Rgb): number {
  const [red, green, blue] = color.map((part) => {
    const share = part / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** Contrast ratio of two colours, 1 to 21, in either order (WCAG 2.2, definition). */
export function computeContrast(a: Rgb, b: Rgb): number {
  const [darker, lighter] = [computeLuminance(a), computeLuminance(b)].sort((x, y) => x - y) as [
    number,
    number,
  ]
  return (lighter + 0.05) / (darker + 0.05)
}

/** Black or white, whichever has the higher contrast to `background`; at least 4.58. */
export const selectTextColor = (background: Rgb): Rgb =>
  computeContrast(background, WHITE) >= computeContrast(background, BLACK) ? WHITE : BLACK

const mixColors = (color: Rgb, other: Rgb, share: number): Rgb =>
  color.map((part, index) => part + ((other[index] ?? 0) - part) * share) as unknown as Rgb

/** `color`, darkened or lightened as little as needed for a contrast of `ratio` to each of `backgrounds`. */
export function adjustContrast(color: Rgb, backgrounds: readonly Rgb[], ratio: number): Rgb {
  const extreme = selectTextColor(backgrounds[0] ?? WHITE)
  for (let share = 0; share < 1; share += 0.02) {
    // Rounded as in the stylesheet, so that the rendered color has the contrast.
    const candidate = parseColor(toHex(mixColors(color, extreme, share))) ?? extreme
    if (backgrounds.every((background) => computeContrast(candidate, background) >= ratio)) return candidate
  }
  return extreme
}

/**
 * Buttons are filled with the theme color if it is visible; edges, text and focus rings use a shade of it.
 */
function computeThemeVariables(theme: Rgb, scheme: 'light' | 'dark'): string {
  const palette = PALETTE[scheme]
  const backgrounds = [palette.surface, palette.page, palette.raised].map(
    (color) => parseColor(color) ?? WHITE,
  )
  const fill = adjustContrast(theme, backgrounds.slice(0, 1), FILL_CONTRAST[scheme])
  return Object.entries({
    accent: fill,
    'on-accent': selectTextColor(fill),
    'accent-edge': adjustContrast(theme, backgrounds, CONTROL_CONTRAST),
    'accent-text': adjustContrast(theme, backgrounds, TEXT_CONTRAST),
  })
    .map(([name, color]) => `--${name}:${toHex(color)}`)
    .join(';')
}

/** The rules for a client's color in both schemes; null when it has no valid one. */
export function buildThemeCss(themeColor: string | null | undefined): string | null {
  const theme = parseColor(themeColor)
  if (!theme) return null
  const [light, dark] = [computeThemeVariables(theme, 'light'), computeThemeVariables(theme, 'dark')]
  return `:root{${light}}@media (prefers-color-scheme:dark){:root{${dark}}}`
}

/** The CSP source that allows exactly this inline style or script (CSP 3, section 2.3.1). */
export const computeCspHash = (content: string): string =>
  `'sha256-${createHash('sha256').update(content).digest('base64')}'`
