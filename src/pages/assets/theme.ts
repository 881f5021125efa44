import { createHash } from 'node:crypto'
import { type Brand, CORNER_RADIUS, DEFAULT_FONT, selectFontStack } from '../../model/brand.ts'
import { computeAccent, hasThemeColor } from '../../model/palette.ts'

/** Names and values of custom properties, as CSS declarations. */
export const toCssDeclarations = (values: Record<string, string>): string =>
  Object.entries(values)
    .map(([name, value]) => `--${name}:${value}`)
    .join(';')

/** The shape of the brand: corners and font. */
export const buildShapeVariables = ({ cornerRadius, font }: Brand): Record<string, string> => ({
  radius: `${cornerRadius ?? CORNER_RADIUS.standard}px`,
  font: selectFontStack(font),
})

const isDefaultShape = ({ cornerRadius, font }: Brand): boolean =>
  (cornerRadius ?? CORNER_RADIUS.standard) === CORNER_RADIUS.standard &&
  (font ?? DEFAULT_FONT) === DEFAULT_FONT

/** The rules for a brand in both schemes; null for the default. */
export function buildThemeCss(brand: Brand): string | null {
  const shape = isDefaultShape(brand) ? {} : buildShapeVariables(brand)
  if (!hasThemeColor(brand)) return isDefaultShape(brand) ? null : `:root{${toCssDeclarations(shape)}}`
  const light = toCssDeclarations({ ...computeAccent(brand, 'light'), ...shape })
  const dark = toCssDeclarations(computeAccent(brand, 'dark'))
  return `:root{${light}}@media (prefers-color-scheme:dark){:root{${dark}}}`
}

/**
 * The brand of a page: the shape of the tenant, and the color of the client if it has a valid one, otherwise of
 * the tenant.
 */
export function selectBrand(
  tenant: Brand | null | undefined,
  client: { themeColor?: string | null } | null | undefined,
): Brand {
  const { cornerRadius, font, themeColor, darkThemeColor } = tenant ?? {}
  if (client && hasThemeColor({ themeColor: client.themeColor }))
    return { cornerRadius, font, themeColor: client.themeColor }
  return { cornerRadius, font, themeColor, darkThemeColor }
}

/** The CSP source that allows exactly this inline style or script (CSP 3, section 2.3.1). */
export const computeCspHash = (content: string): string =>
  `'sha256-${createHash('sha256').update(content).digest('base64')}'`
