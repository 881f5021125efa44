import { FONTS, type Font } from '../core/brand.ts'
import { builder, type GraphQLTypes } from '../graphql/builder.ts'
import { findDescription } from '../schema/schema-descriptions.ts'
import { brandTexts } from './brand-settings.fields.ts'
import { senderTexts } from './mail-sender.fields.ts'
import type { toSettings } from './settings.ts'

type InputFields = PothosSchemaTypes.InputFieldBuilder<GraphQLTypes, 'InputObject'>
type SettingFields = PothosSchemaTypes.ObjectFieldBuilder<GraphQLTypes, ReturnType<typeof toSettings>>
type Named = Record<string, unknown>

const FONT_DESCRIPTIONS: Record<Font, string> = {
  system: 'The font of the device.',
  humanist: 'Without serifs, with the strokes of handwriting.',
  geometric: 'Without serifs, of circles and straight lines.',
  rounded: 'Without serifs, with round ends.',
  serif: 'With serifs.',
  monospace: 'All letters have the same width.',
}

const FontEnum = builder.enumType('Font', {
  description: 'A font that devices have. None is loaded.',
  values: Object.fromEntries(
    FONTS.map((name) => [name.toUpperCase(), { value: name, description: FONT_DESCRIPTIONS[name] }]),
  ) as Record<Uppercase<Font>, { value: Font; description: string }>,
})

const mapNames = <Texts extends Named, Field>(texts: Texts, toField: (name: keyof Texts) => Field) =>
  Object.fromEntries(Object.keys(texts).map((name) => [name, toField(name)])) as Record<keyof Texts, Field>

/** The settings of the brand and of the sender of mails, as fields of TenantSettings. */
export function buildBrandSettingFields(t: SettingFields) {
  const exposeText = (name: keyof typeof brandTexts | keyof typeof senderTexts) =>
    t.exposeString(name, { nullable: true, description: findDescription('Tenant', name) })
  return {
    ...mapNames(brandTexts, exposeText),
    cornerRadius: t.exposeInt('cornerRadius', { description: findDescription('Tenant', 'cornerRadius') }),
    font: t.field({
      type: FontEnum,
      description: findDescription('Tenant', 'font'),
      resolve: ({ font }) => font as Font,
    }),
    ...mapNames(senderTexts, exposeText),
  }
}

/** The same, as fields of inputs. */
export function buildBrandSettingInputs(t: InputFields) {
  const toInput = (name: string) => t.string({ description: findDescription('Tenant', name) })
  return {
    ...mapNames(brandTexts, toInput),
    cornerRadius: t.int({ description: findDescription('Tenant', 'cornerRadius') }),
    font: t.field({ type: FontEnum, description: findDescription('Tenant', 'font') }),
    ...mapNames(senderTexts, toInput),
  }
}
