import { createHash } from 'node:crypto'

/** Red, green, blue from 0 to 255. */
export type Rgb = readonly [red: number, green: number, blue: number]

const BLACK: Rgb = [0, 0, 0]
const WHITE: Rgb = [255, 255, 255]

/** The colours of the pages in both schemes. Every pair that text or a control is seen by holds WCAG 2.2 AA (tested). */
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
/** The accent of clients that chose none. */
export const DEFAULT_THEME = '#2f5bd8'

/** Ratios of WCAG 2.2: text (1.4.3) and what a control needs to be seen by (1.4.11). */
const TEXT_CONTRAST = 4.5
const CONTROL_CONTRAST = 3
/** Below this a filled button cannot be told from an empty one; its edge and its text carry the required contrast. */
const FILL_CONTRAST = { light: 1.25, dark: 1.8 } as const

/** Reads `#rgb` or `#rrggbb`; null for anything else, so that nothing but six digits ever reaches a stylesheet. */
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
function luminance(color: Rgb): number {
  const [red, green, blue] = color.map((part) => {
    const share = part / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** Contrast ratio of two colours, 1 to 21, in either order (WCAG 2.2, definition). */
export function contrast(a: Rgb, b: Rgb): number {
  const [darker, lighter] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number]
  return (lighter + 0.05) / (darker + 0.05)
}

/** Black or white, whichever reads better on `background`; the better one always has 4.58 at least. */
export const readableOn = (background: Rgb): Rgb =>
  contrast(background, WHITE) >= contrast(background, BLACK) ? WHITE : BLACK

const mix = (color: Rgb, other: Rgb, share: number): Rgb =>
  color.map((part, index) => part + ((other[index] ?? 0) - part) * share) as unknown as Rgb

/** `color`, darkened or lightened by as little as makes it stand out from every one of `backgrounds` by `ratio`. */
export function standOut(color: Rgb, backgrounds: readonly Rgb[], ratio: number): Rgb {
  const towards = readableOn(backgrounds[0] ?? WHITE)
  for (let share = 0; share < 1; share += 0.02) {
    // Rounded as it will be written, so that the promise holds for what browsers paint.
    const candidate = parseColor(toHex(mix(color, towards, share))) ?? towards
    if (backgrounds.every((background) => contrast(candidate, background) >= ratio)) return candidate
  }
  return towards
}

/** The theme fills buttons as it is, if it can be seen; as edge, text and focus ring a shade of it stands in. */
function variables(theme: Rgb, scheme: 'light' | 'dark'): string {
  const palette = PALETTE[scheme]
  const behind = [palette.surface, palette.page, palette.raised].map((color) => parseColor(color) ?? WHITE)
  const fill = standOut(theme, behind.slice(0, 1), FILL_CONTRAST[scheme])
  return Object.entries({
    accent: fill,
    'on-accent': readableOn(fill),
    'accent-edge': standOut(theme, behind, CONTROL_CONTRAST),
    'accent-text': standOut(theme, behind, TEXT_CONTRAST),
  })
    .map(([name, color]) => `--${name}:${toHex(color)}`)
    .join(';')
}

/** The rules that put a client's colour on the page, for both schemes; null when it has none that can be read. */
export function themeCss(themeColor: string | null | undefined): string | null {
  const theme = parseColor(themeColor)
  if (!theme) return null
  const [light, dark] = [variables(theme, 'light'), variables(theme, 'dark')]
  return `:root{${light}}@media (prefers-color-scheme:dark){:root{${dark}}}`
}

/** A CSP source that admits exactly this inline style or script (CSP 3, section 2.3.1). */
export const cspHash = (content: string): string =>
  `'sha256-${createHash('sha256').update(content).digest('base64')}'`
