import { type Brand, CORNER_RADIUS, FONT_STACKS, selectFontStack } from '../model/brand.ts'
import { computeAccent, PALETTE, type Scheme } from '../model/palette.ts'

/** The colors of a mail in one scheme. */
export type MailColors = Record<
  'page' | 'surface' | 'raised' | 'text' | 'muted' | 'line' | 'accent' | 'onAccent' | 'link',
  string
>

/** The colors of a mail of a brand in one scheme. */
export function computeMailColors(brand: Brand, scheme: Scheme): MailColors {
  const { page, surface, raised, text, muted, line } = PALETTE[scheme]
  const accent = computeAccent(brand, scheme)
  const { accent: fill, 'on-accent': onAccent, 'accent-text': link } = accent
  return { page, surface, raised, text, muted, line, accent: fill, onAccent, link }
}

const MAX_CARD_RADIUS = 32
const MONO = FONT_STACKS.monospace
/** A code of six digits fills a narrow screen; one of ten is smaller. */
const CODE_SIZES = { short: '36px/44px', long: '26px/36px' } as const
const MAX_SHORT_CODE = 8

/** Styles are attributes, because some mail programs ignore a stylesheet. */
export function buildInlineStyles(brand: Brand, direction: 'ltr' | 'rtl') {
  const start = direction === 'ltr' ? 'left' : 'right'
  const end = direction === 'ltr' ? 'right' : 'left'
  const color = computeMailColors(brand, 'light')
  const sans = selectFontStack(brand.font)
  const radius = brand.cornerRadius ?? CORNER_RADIUS.standard
  return {
    direction,
    body: `margin:0;padding:0;background:${color.page};color:${color.text};-webkit-text-size-adjust:100%`,
    page: `background:${color.page};color:${color.text};font:16px/24px ${sans}`,
    frame: `max-width:600px;text-align:${start}`,
    preheader: 'display:none;max-height:0;max-width:0;overflow:hidden;opacity:0;mso-hide:all',
    initial: `width:40px;height:40px;border-radius:${radius}px;background:${color.accent};color:${color.onAccent};font:700 18px/40px ${sans};text-align:center`,
    darkLogo: 'display:none;height:40px;width:auto;max-width:160px;border:0',
    logo: 'display:block;height:40px;width:auto;max-width:160px;border:0',
    name: `padding:0 12px;color:${color.text};font:600 16px/24px ${sans};overflow-wrap:anywhere`,
    card: `padding:32px 24px;border:1px solid ${color.line};border-radius:${Math.min(radius * 2, MAX_CARD_RADIUS)}px;background:${color.surface};overflow-wrap:anywhere`,
    heading: `margin:0 0 12px;color:${color.text};font:700 24px/32px ${sans}`,
    text: `margin:0 0 20px;color:${color.text};font:16px/24px ${sans}`,
    code: (code: string) =>
      `margin:0 0 20px;padding:18px 8px;border-radius:${radius}px;background:${color.raised};color:${color.text};font:700 ${CODE_SIZES[code.length > MAX_SHORT_CODE ? 'long' : 'short']} ${MONO};letter-spacing:${code.length > MAX_SHORT_CODE ? 1 : 6}px;text-align:center;white-space:nowrap;-webkit-user-select:all;user-select:all`,
    button: `border-radius:${radius}px;background:${color.accent};text-align:center;mso-padding-alt:12px 24px`,
    buttonLink: `display:inline-block;padding:12px 24px;border-radius:${radius}px;color:${color.onAccent};font:600 16px/24px ${sans};text-decoration:none`,
    hint: `margin:16px 0 20px;color:${color.muted};font:14px/20px ${sans}`,
    // A URL is broken anywhere; words are not.
    url: `color:${color.link};word-break:break-all`,
    link: `color:${color.link}`,
    facts: 'margin:0 0 20px',
    label: `padding:2px 0;padding-${end}:16px;color:${color.muted};font:14px/20px ${sans};text-align:${start};vertical-align:top;white-space:nowrap`,
    value: `padding:2px 0;color:${color.text};font:14px/20px ${sans};vertical-align:top;overflow-wrap:anywhere`,
    aside: `margin:0;padding:20px 0 0;border-top:1px solid ${color.line};color:${color.muted};font:14px/20px ${sans}`,
    footer: `padding:20px 24px;color:${color.muted};font:14px/20px ${sans};overflow-wrap:anywhere`,
  }
}

export type InlineStyles = ReturnType<typeof buildInlineStyles>

const buildDarkRules = (color: MailColors, attribute = ''): string =>
  Object.entries({
    page: `background:${color.page}!important;color:${color.text}!important`,
    card: `background:${color.surface}!important;border-color:${color.line}!important`,
    text: `color:${color.text}!important`,
    muted: `color:${color.muted}!important`,
    aside: `border-color:${color.line}!important`,
    code: `background:${color.raised}!important;color:${color.text}!important`,
    fill: `background:${color.accent}!important;color:${color.onAccent}!important`,
    'on-fill': `color:${color.onAccent}!important`,
    link: `color:${color.link}!important`,
    'logo-light': 'display:none!important',
    'logo-dark': 'display:block!important',
  })
    .map(([name, rule]) => `${attribute}.${name}{${rule}}`)
    .join('')

/**
 * The colors in the dark, for programs with the media query, and for Outlook, which marks the document instead.
 * Other programs keep the light colors, or invert them.
 */
export function buildDarkCss(brand: Brand): string {
  const color = computeMailColors(brand, 'dark')
  return `:root{color-scheme:light dark;supported-color-schemes:light dark}@media (prefers-color-scheme:dark){${buildDarkRules(color)}}${buildDarkRules(color, '[data-ogsc] ')}`
}
