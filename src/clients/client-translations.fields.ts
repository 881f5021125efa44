import * as z from 'zod'
import { CLIENT_TEXTS, type ClientTranslation } from '../model/client-translation.ts'
import { standardField } from '../schema/fields.ts'
import { textIn } from '../schema/formats.ts'
import { optional, requiredText } from '../schema/input-shapes.ts'
import { languageTag } from '../schema/language-tag.ts'
import { createAllowedUrl } from '../schema/url-shapes.ts'

const MAX_TRANSLATIONS = 50

const TRANSLATION_DESCRIPTION =
  'The name, logo and links of a client in one language. Null is that of the client.'
const TRANSLATION_DESCRIPTIONS = {
  locale: 'Language tag (BCP 47).',
  name: 'Name shown to people.',
  logoUrl: 'Logo on the hosted pages.',
  policyUrl: 'Its privacy policy.',
  termsUrl: 'Its terms of use.',
}

const samples: ClientTranslation = {
  locale: 'de',
  name: 'Laden',
  logoUrl: 'https://shop.example/logo-de.png',
  policyUrl: 'https://shop.example/datenschutz',
  termsUrl: 'https://shop.example/agb',
}

const describe = <Shape extends z.ZodType>(name: keyof ClientTranslation, shape: Shape) =>
  shape.meta({ description: TRANSLATION_DESCRIPTIONS[name], example: samples[name] })
const orNull = <Shape extends z.ZodType<string>>(shape: Shape) =>
  optional(shape).transform((value) => value ?? null)
const link = createAllowedUrl({ secure: true, fragment: true })

const translation = z
  .strictObject(
    {
      locale: describe('locale', languageTag),
      name: describe('name', orNull(requiredText(200))),
      logoUrl: describe('logoUrl', orNull(createAllowedUrl({ secure: true }))),
      policyUrl: describe('policyUrl', orNull(link)),
      termsUrl: describe('termsUrl', orNull(link)),
    },
    { error: (issue) => (issue.code === 'invalid_type' ? 'must be an object' : undefined) },
  )
  .superRefine((given, context) => {
    if (CLIENT_TEXTS.every((name) => given[name] === null))
      context.addIssue({ code: 'custom', message: `must have one of ${CLIENT_TEXTS.join(', ')}` })
  })
  .meta({ id: 'ClientTranslationInput', description: TRANSLATION_DESCRIPTION, example: samples })

const translationList = z
  .array(translation, 'must be an array')
  .max(MAX_TRANSLATIONS, `must have at most ${MAX_TRANSLATIONS} entries`)
  .superRefine((translations, context) => {
    for (const [index, { locale }] of translations.entries())
      if (translations.findIndex((other) => other.locale === locale) < index)
        context.addIssue({ code: 'custom', path: [index, 'locale'], message: 'is given twice' })
  })

const answerShape = (name: keyof ClientTranslation, shape: z.ZodType<string>) =>
  describe(name, shape.nullable())

const answer = z.array(
  z
    .object({
      locale: describe('locale', textIn('language-tag')),
      name: answerShape('name', z.string()),
      logoUrl: answerShape('logoUrl', textIn('uri')),
      policyUrl: answerShape('policyUrl', textIn('uri')),
      termsUrl: answerShape('termsUrl', textIn('uri')),
    })
    .meta({ id: 'ClientTranslation', description: TRANSLATION_DESCRIPTION }),
)

export const clientTranslations = standardField(translationList, answer, [], [samples])
