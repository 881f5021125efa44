import * as z from 'zod'
import { CORNER_RADIUS, DEFAULT_FONT, FONTS } from '../core/brand.ts'
import { createImageUrl } from '../schema/image-shapes.ts'
import { integer, oneOf, text } from '../schema/input-shapes.ts'

/** Examples of these settings, for openapi.json. */
export const brandSamples = {
  themeColor: '#0a7c66',
  darkThemeColor: '#5fd1b8',
  darkLogoUrl: 'https://example.com/logo-dark.png',
  faviconUrl: 'https://example.com/favicon.png',
  cornerRadius: 6,
  font: 'geometric',
}

const color = text().regex(/^#[0-9a-fA-F]{6}$/, 'must be a color such as #0a7c66')
const imageUrl = createImageUrl()

/** Settings of the brand that are text, in the order of the API. */
export const brandTexts = {
  themeColor: color,
  darkThemeColor: color,
  darkLogoUrl: imageUrl,
  faviconUrl: imageUrl,
}

/** Settings of the brand that are never unset: null is the default. */
export const brandSettings = {
  cornerRadius: integer(CORNER_RADIUS.min, CORNER_RADIUS.max)
    .nullable()
    .transform((radius) => radius ?? CORNER_RADIUS.standard)
    .optional(),
  font: oneOf(FONTS)
    .nullable()
    .transform((font) => font ?? DEFAULT_FONT)
    .optional(),
}

/** The response shapes of the same settings. */
export const brandShapes = { cornerRadius: z.int(), font: z.enum(FONTS) }
