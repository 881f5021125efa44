import { CORNER_RADIUS, DEFAULT_FONT, type Font } from '../model/brand.ts'
import { defineEnum } from '../schema/enums.ts'
import { enumField, integerField, textField } from '../schema/fields.ts'
import { color } from '../schema/formats.ts'
import { createImageUrl } from '../schema/image-shapes.ts'

const FONT = defineEnum<Font>('Font', 'A font that devices have. None is loaded.', {
  system: 'The font of the device.',
  humanist: 'Without serifs, with the strokes of handwriting.',
  geometric: 'Without serifs, of circles and straight lines.',
  rounded: 'Without serifs, with round ends.',
  serif: 'With serifs.',
  monospace: 'All letters have the same width.',
})

/** The settings of the brand. */
export const brandSettings = {
  themeColor: textField(color, '#0a7c66'),
  darkThemeColor: textField(color, '#5fd1b8'),
  darkLogoUrl: textField(createImageUrl(), 'https://example.com/logo-dark.png'),
  faviconUrl: textField(createImageUrl(), 'https://example.com/favicon.png'),
  cornerRadius: integerField(CORNER_RADIUS, 6),
  font: enumField(FONT, DEFAULT_FONT, 'geometric'),
}
