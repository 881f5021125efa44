import type { Brand } from './brand.ts'
import {
  adjustContrast,
  computeContrast,
  parseColor,
  type Rgb,
  selectTextColor,
  toHex,
  WHITE,
} from './colors.ts'

/** The colors of pages and mails in both schemes. The contrast of text and controls meets WCAG 2.2 AA (tested). */
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

/** The accent color of tenants and clients without one. */
export const DEFAULT_THEME = '#2f5bd8'

/** Minimum contrast of text (WCAG 2.2, 1.4.3) and of controls (1.4.11). */
const TEXT_CONTRAST = 4.5
const CONTROL_CONTRAST = 3
/** Below this contrast a filled button looks empty; its edge and text have the required contrast. */
const FILL_CONTRAST = { light: 1.25, dark: 1.8 } as const

export type Scheme = keyof typeof PALETTE

/** The color names that follow from the accent color. */
export type Accent = Record<'accent' | 'on-accent' | 'accent-edge' | 'accent-text', string>

/** How much the parts of a gray differ at most, black and white included. */
const GRAY_RANGE = 24

const isGray = (color: Rgb): boolean => Math.max(...color) - Math.min(...color) <= GRAY_RANGE

/** A gray that is invisible in a scheme, such as white on white, is replaced by the color of text. */
function replaceInvisible(color: Rgb, scheme: Scheme): Rgb {
  const { surface, text } = PALETTE[scheme]
  const isVisible = computeContrast(color, parseColor(surface) ?? WHITE) >= FILL_CONTRAST[scheme]
  return isVisible || !isGray(color) ? color : (parseColor(text) ?? color)
}

/** The color of a brand in a scheme: a single valid color is that of both. Null when it has none. */
function selectThemeColor({ themeColor, darkThemeColor }: Brand, scheme: Scheme): Rgb | null {
  const [light, dark] = [parseColor(themeColor), parseColor(darkThemeColor)]
  return scheme === 'light' ? (light ?? dark) : (dark ?? light)
}

export const hasThemeColor = (brand: Brand): boolean => selectThemeColor(brand, 'light') !== null

/**
 * The shades of the color of a brand in a scheme, or of the default. Buttons are filled with the color if it is visible; edges, text and
 * focus rings use a shade of it that has the required contrast. Black and white are inverted where they are
 * invisible.
 */
export function computeAccent(brand: Brand, scheme: Scheme): Accent {
  const given = selectThemeColor(brand, scheme) ?? selectThemeColor({ themeColor: DEFAULT_THEME }, scheme)
  const color = replaceInvisible(given ?? WHITE, scheme)
  const palette = PALETTE[scheme]
  const backgrounds = [palette.surface, palette.page, palette.raised].map(
    (background) => parseColor(background) ?? WHITE,
  )
  const fill = adjustContrast(color, backgrounds.slice(0, 1), FILL_CONTRAST[scheme])
  return {
    accent: toHex(fill),
    'on-accent': toHex(selectTextColor(fill)),
    'accent-edge': toHex(adjustContrast(color, backgrounds, CONTROL_CONTRAST)),
    'accent-text': toHex(adjustContrast(color, backgrounds, TEXT_CONTRAST)),
  }
}
