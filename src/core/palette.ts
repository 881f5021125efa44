import { adjustContrast, parseColor, type Rgb, selectTextColor, toHex, WHITE } from './colors.ts'

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

/** The accent color of clients without one. */
export const DEFAULT_THEME = '#2f5bd8'

/** Minimum contrast of text (WCAG 2.2, 1.4.3) and of controls (1.4.11). */
const TEXT_CONTRAST = 4.5
const CONTROL_CONTRAST = 3
/** Below this contrast a filled button looks empty; its edge and text have the required contrast. */
const FILL_CONTRAST = { light: 1.25, dark: 1.8 } as const

export type Scheme = keyof typeof PALETTE

/** The color names that follow from the accent color. */
export type Accent = Record<'accent' | 'on-accent' | 'accent-edge' | 'accent-text', string>

/**
 * The shades of an accent color in a scheme. Buttons are filled with the color if it is visible; edges, text and
 * focus rings use a shade of it that has the required contrast.
 */
export function computeAccent(color: Rgb, scheme: Scheme): Accent {
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
