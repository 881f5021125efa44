import { CORNER_RADIUS, DEFAULT_FONT, type Font } from '../model/brand.ts'
import { defineEnum } from '../schema/enums.ts'
import { enumField, integerField, textField } from '../schema/fields.ts'
import { createImageUrl } from '../schema/image-shapes.ts'
import { text } from '../schema/input-shapes.ts'

const FONT = defineEnum<Font>('Font', 'A font that devices have. None is loaded.', {
  system: 'The font of the device.',
  humanist: 'Without serifs, with the strokes of handwriting.',
  geometric: 'Without serifs, of circles and straight lines.',
  rounded: 'Without serifs, with round ends.',
  serif: 'With serifs.',
  monospace: 'All letters have the same width.',
})

const color = text().regex(/^#[0-9a-fA-F]{6}$/, 'must be a color such as #0a7c66')

/** The settings of the brand. */
export const brandSettings = {
  themeColor: textField(color, '#0a7c66'),
  darkThemeColor: textField(color, '#5fd1b8'),
  darkLogoUrl: textField(createImageUrl(), 'https://example.com/logo-dark.png'),
  faviconUrl: textField(createImageUrl(), 'https://example.com/favicon.png'),
  cornerRadius: integerField(CORNER_RADIUS, 6),
  font: enumField(FONT, DEFAULT_FONT, 'geometric'),
}
