import { parseColor } from '../core/colors.ts'
import { computeAccent, DEFAULT_THEME, PALETTE, type Scheme } from '../core/palette.ts'

/** The colors of a mail in one scheme. */
export type MailColors = Record<
  'page' | 'surface' | 'raised' | 'text' | 'muted' | 'line' | 'accent' | 'onAccent' | 'link',
  string
>

/** The colors of a mail for both schemes, from an accent color. */
export function computeMailColors(scheme: Scheme, accentColor = DEFAULT_THEME): MailColors {
  const { page, surface, raised, text, muted, line } = PALETTE[scheme]
  const accent = computeAccent(parseColor(accentColor) ?? [0, 0, 0], scheme)
  const { accent: fill, 'on-accent': onAccent, 'accent-text': link } = accent
  return { page, surface, raised, text, muted, line, accent: fill, onAccent, link }
}

const SANS = 'system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif'
const MONO = 'ui-monospace,"SF Mono",Menlo,Consolas,"Courier New",monospace'
/** A code of six digits fills a narrow screen; one of ten is smaller. */
const CODE_SIZES = { short: '36px/44px', long: '26px/36px' } as const
const MAX_SHORT_CODE = 8

/** Styles are attributes, because some mail programs ignore a stylesheet. */
export const buildInlineStyles = (color: MailColors) => ({
  body: `margin:0;padding:0;background:${color.page};color:${color.text};-webkit-text-size-adjust:100%`,
  page: `background:${color.page};color:${color.text};font:16px/24px ${SANS}`,
  frame: 'max-width:600px;text-align:start',
  preheader: 'display:none;max-height:0;max-width:0;overflow:hidden;opacity:0;mso-hide:all',
  initial: `width:40px;height:40px;border-radius:10px;background:${color.accent};color:${color.onAccent};font:700 18px/40px ${SANS};text-align:center`,
  logo: 'display:block;height:40px;width:auto;max-width:160px;border:0',
  name: `padding:0 12px;color:${color.text};font:600 16px/24px ${SANS};overflow-wrap:anywhere`,
  card: `padding:32px 24px;border:1px solid ${color.line};border-radius:16px;background:${color.surface};overflow-wrap:anywhere`,
  heading: `margin:0 0 12px;color:${color.text};font:700 24px/32px ${SANS}`,
  text: `margin:0 0 20px;color:${color.text};font:16px/24px ${SANS}`,
  code: (code: string) =>
    `margin:0 0 20px;padding:18px 8px;border-radius:12px;background:${color.raised};color:${color.text};font:700 ${CODE_SIZES[code.length > MAX_SHORT_CODE ? 'long' : 'short']} ${MONO};letter-spacing:${code.length > MAX_SHORT_CODE ? 1 : 6}px;text-align:center;white-space:nowrap;-webkit-user-select:all;user-select:all`,
  button: `border-radius:10px;background:${color.accent};text-align:center`,
  buttonLink: `display:inline-block;padding:12px 24px;border-radius:10px;color:${color.onAccent};font:600 16px/24px ${SANS};text-decoration:none`,
  hint: `margin:16px 0 20px;color:${color.muted};font:14px/20px ${SANS}`,
  link: `color:${color.link};word-break:break-all`,
  facts: 'margin:0 0 20px',
  label: `padding:2px 16px 2px 0;color:${color.muted};font:14px/20px ${SANS};text-align:start;vertical-align:top;white-space:nowrap`,
  value: `padding:2px 0;color:${color.text};font:14px/20px ${SANS};vertical-align:top;overflow-wrap:anywhere`,
  aside: `margin:0;padding:20px 0 0;border-top:1px solid ${color.line};color:${color.muted};font:14px/20px ${SANS}`,
  footer: `padding:20px 24px;color:${color.muted};font:14px/20px ${SANS};overflow-wrap:anywhere`,
})

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
  })
    .map(([name, rule]) => `${attribute}.${name}{${rule}}`)
    .join('')

/**
 * The colors in the dark, for programs with the media query, and for Outlook, which marks the document instead.
 * Other programs keep the light colors, or invert them.
 */
export const buildDarkCss = (color: MailColors): string =>
  `:root{color-scheme:light dark;supported-color-schemes:light dark}@media (prefers-color-scheme:dark){${buildDarkRules(color)}}${buildDarkRules(color, '[data-ogsc] ')}`
