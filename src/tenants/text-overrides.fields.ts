import * as z from 'zod'
import { findOverrideIssue } from '../languages/text-overrides.ts'
import type { TextOverride } from '../model/text-override.ts'
import { standardField } from '../schema/fields.ts'
import { asFormat, textIn } from '../schema/formats.ts'
import { requiredText } from '../schema/input-shapes.ts'

const MAX_OVERRIDES = 200
const MAX_TEXT_LENGTH = 1000

const DESCRIPTION = 'A text of pages and messages that the tenant replaces, in one language.'
const DESCRIPTIONS = {
  locale: 'The language: a tag of ui_locales_supported.',
  key: 'The key of the message in the catalogs.',
  text: 'The text in ICU MessageFormat, with the placeholders of the message.',
}

const sample: TextOverride = { locale: 'de', key: 'signIn.title', text: 'Willkommen' }

const describe = <Shape extends z.ZodType>(name: keyof TextOverride, shape: Shape) =>
  shape.meta({ description: DESCRIPTIONS[name], example: sample[name] })

const textOverride = z
  .strictObject(
    {
      locale: describe('locale', asFormat(requiredText(100), 'language-tag')),
      key: describe('key', requiredText(100)),
      text: describe(
        'text',
        requiredText(MAX_TEXT_LENGTH).refine(
          (value) => !/\p{Cc}/u.test(value),
          'must not contain control characters',
        ),
      ),
    },
    { error: (issue) => (issue.code === 'invalid_type' ? 'must be an object' : undefined) },
  )
  .superRefine((override, context) => {
    const issue = findOverrideIssue(override)
    if (issue) context.addIssue({ code: 'custom', path: [issue.field], message: issue.description })
  })
  .meta({ id: 'TextOverrideInput', description: DESCRIPTION, example: sample })

const isSame = (one: TextOverride, other: TextOverride): boolean =>
  one.locale === other.locale && one.key === other.key

const textOverrideList = z
  .array(textOverride, 'must be an array')
  .max(MAX_OVERRIDES, `must have at most ${MAX_OVERRIDES} entries`)
  .superRefine((overrides, context) => {
    for (const [index, override] of overrides.entries())
      if (overrides.findIndex((other) => isSame(other, override)) < index)
        context.addIssue({
          code: 'custom',
          path: [index, 'key'],
          message: 'is given twice in this language',
        })
  })

const TextOverrideShape = z
  .object({
    locale: describe('locale', textIn('language-tag')),
    key: describe('key', z.string()),
    text: describe('text', z.string()),
  })
  .meta({ id: 'TextOverride', description: DESCRIPTION })

export const textOverrides = standardField(textOverrideList, z.array(TextOverrideShape), [], [sample])
