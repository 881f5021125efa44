import { describe, expect, test } from 'vitest'
import {
  adjustContrast,
  computeContrast,
  parseColor,
  type Rgb,
  selectTextColor,
  toHex,
} from '../../src/model/colors.ts'
import { PALETTE } from '../../src/model/palette.ts'
import { buildThemeCss } from '../../src/pages/assets/theme.ts'

const rgb = (text: string): Rgb => parseColor(text) as Rgb
const ratio = (a: string, b: string): number => computeContrast(rgb(a), rgb(b))

describe('a color', () => {
  test.each([
    ['#000000', [0, 0, 0]],
    ['#FfD400', [255, 212, 0]],
    ['#0af', [0, 170, 255]],
    ['000000', null],
    ['#00000', null],
    ['#0000000', null],
    ['#gggggg', null],
    ['#fff\n', null],
    ['rebeccapurple', null],
    ['', null],
    [null, null],
    [undefined, null],
  ])('%j is parsed as %j', (text, expected) => {
    expect(parseColor(text)).toEqual(expected)
  })

  // The ratios are those of WebAIM's contrast checker.
  test.each([
    ['#000000', '#ffffff', 21],
    ['#ffffff', '#ffffff', 1],
    ['#777777', '#ffffff', 4.48],
    ['#767676', '#ffffff', 4.54],
    ['#ff0000', '#ffffff', 4],
    ['#0000ff', '#ffffff', 8.59],
    ['#ffff00', '#000000', 19.56],
  ])('%s has a contrast to %s of %d, in either order', (a, b, expected) => {
    expect(ratio(a, b)).toBeCloseTo(expected, 1)
    expect(ratio(b, a)).toBe(ratio(a, b))
  })

  test.each([
    ['#ffd400', '#000000'],
    ['#0f766e', '#ffffff'],
    ['#000000', '#ffffff'],
    ['#ffffff', '#000000'],
    ['#ff0000', '#000000'],
    ['#c00000', '#ffffff'],
  ])('%s has text of color %s', (background, text) => {
    expect(toHex(selectTextColor(rgb(background)))).toBe(text)
  })

  test('of any gray has readable text in black or white', () => {
    for (let level = 0; level < 256; level++)
      expect(computeContrast([level, level, level], selectTextColor([level, level, level]))).toBeGreaterThan(
        4.5,
      )
  })

  test('with enough contrast is not adjusted', () => {
    expect(toHex(adjustContrast(rgb('#0f766e'), [rgb('#ffffff')], 4.5))).toBe('#0f766e')
  })
})

describe('a theme', () => {
  const themes = [
    '#000000',
    '#ffffff',
    '#ffd400',
    '#808080',
    '#0f766e',
    '#ff0000',
    '#111827',
    '#00ff00',
    '#0000ff',
    '#fefefe',
  ]
  const declared = (css: string, dark: boolean) =>
    Object.fromEntries(
      [...(css.split('@media')[dark ? 1 : 0] ?? '').matchAll(/--([a-z-]+):(#[0-9a-f]{6})/g)].map(
        ([, name, value]) => [name, value],
      ),
    )

  test.each(themes.flatMap((theme) => [[theme, 'light'] as const, [theme, 'dark'] as const]))(
    '%s has readable text and visible edges in the %s scheme',
    (theme, scheme) => {
      const accent = declared(buildThemeCss({ themeColor: theme }) as string, scheme === 'dark') as Record<
        string,
        string
      >
      expect(ratio(accent['on-accent'] as string, accent.accent as string)).toBeGreaterThanOrEqual(4.5)
      for (const background of [PALETTE[scheme].surface, PALETTE[scheme].page, PALETTE[scheme].raised]) {
        expect(ratio(accent['accent-text'] as string, background)).toBeGreaterThanOrEqual(4.5)
        expect(ratio(accent['accent-edge'] as string, background)).toBeGreaterThanOrEqual(3)
      }
    },
  )

  test.each([
    ['#ffffff', 'light', PALETTE.light.text, '#ffffff'],
    ['#fafafa', 'light', PALETTE.light.text, '#ffffff'],
    ['#000000', 'dark', PALETTE.dark.text, '#000000'],
    ['#111827', 'dark', PALETTE.dark.text, '#000000'],
    ['#ffffff', 'dark', '#ffffff', '#000000'],
    ['#000000', 'light', '#000000', '#ffffff'],
  ] as const)(
    '%s is inverted where it is invisible: in the %s scheme it is %s',
    (themeColor, scheme, fill, text) => {
      const css = buildThemeCss({ themeColor }) as string
      expect(declared(css, scheme === 'dark')).toMatchObject({ accent: fill, 'on-accent': text })
    },
  )

  test.each(['#12', 'red', null, undefined])('%j has no CSS', (theme) => {
    expect(buildThemeCss({ themeColor: theme })).toBeNull()
  })
})

describe.each(['light', 'dark'] as const)('the %s palette', (scheme) => {
  const colors = PALETTE[scheme]
  test.each([
    ['text', 'surface', 4.5],
    ['text', 'page', 4.5],
    ['text', 'raised', 4.5],
    ['muted', 'surface', 4.5],
    ['muted', 'page', 4.5],
    ['muted', 'raised', 4.5],
    ['danger', 'danger-surface', 4.5],
    ['danger', 'surface', 3],
    ['success', 'success-surface', 4.5],
    ['control', 'surface', 3],
  ] as const)('has the contrast of WCAG 2.2 AA for %s on %s', (front, back, minimum) => {
    expect(ratio(colors[front], colors[back])).toBeGreaterThanOrEqual(minimum)
  })
})
