import { FONTS, type Font } from '../core/brand.ts'
import { builder, type GraphQLTypes } from '../graphql/builder.ts'
import { findDescription } from '../schema/schema-descriptions.ts'
import { brandTexts } from './brand-settings.fields.ts'
import type { toSettings } from './settings.ts'

type InputFields = PothosSchemaTypes.InputFieldBuilder<GraphQLTypes, 'InputObject'>
type SettingFields = PothosSchemaTypes.ObjectFieldBuilder<GraphQLTypes, ReturnType<typeof toSettings>>
type TextName = keyof typeof brandTexts

const TEXT_NAMES = Object.keys(brandTexts) as TextName[]

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

const mapTexts = <Field>(toField: (name: TextName) => Field) =>
  Object.fromEntries(TEXT_NAMES.map((name) => [name, toField(name)])) as Record<TextName, Field>

/** The settings of the brand, as fields of TenantSettings. */
export const buildBrandSettingFields = (t: SettingFields) => ({
  ...mapTexts((name) =>
    t.exposeString(name, { nullable: true, description: findDescription('Tenant', name) }),
  ),
  cornerRadius: t.exposeInt('cornerRadius', { description: findDescription('Tenant', 'cornerRadius') }),
  font: t.field({
    type: FontEnum,
    description: findDescription('Tenant', 'font'),
    resolve: ({ font }) => font as Font,
  }),
})

/** The same, as fields of inputs. */
export const buildBrandSettingInputs = (t: InputFields) => ({
  ...mapTexts((name) => t.string({ description: findDescription('Tenant', name) })),
  cornerRadius: t.int({ description: findDescription('Tenant', 'cornerRadius') }),
  font: t.field({ type: FontEnum, description: findDescription('Tenant', 'font') }),
})
