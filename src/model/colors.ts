/** Red, green and blue, 0 to 255. */
export type Rgb = readonly [red: number, green: number, blue: number]

const BLACK: Rgb = [0, 0, 0]
export const WHITE: Rgb = [255, 255, 255]

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
