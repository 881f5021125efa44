import * as z from 'zod'
import type { Ctx } from '../context/context.ts'
import { withScope } from '../graphql/field-access.ts'
import { defineObjectType } from '../graphql/shape-fields.ts'
import { CATALOGS, EN, LANGUAGES } from '../languages/catalogs.ts'
import { defineComputedList } from '../operations/query.ts'
import type { RestRoute } from '../rest/route.ts'
import { asFormat } from '../schema/formats.ts'
import { oneOf, parseInput } from '../schema/input-shapes.ts'

const SCOPE = 'tenant:read'

const MessagesInput = z.strictObject({
  locale: asFormat(oneOf(LANGUAGES as [string, ...string[]]), 'language-tag').meta({
    description: 'The language: a tag of ui_locales_supported.',
    example: 'de',
  }),
})

const DESCRIPTION = 'A text of pages and messages, which textOverrides can replace.'

const CatalogMessageShape = z
  .object({
    key: z.string().meta({ description: 'The key of the message in the catalogs.', example: 'signIn.title' }),
    text: z.string().meta({
      description: 'The text in ICU MessageFormat, which the tenant may have replaced.',
      example: 'Anmelden',
    }),
  })
  .meta({ id: 'CatalogMessage', description: DESCRIPTION })
type CatalogMessage = z.infer<typeof CatalogMessageShape>

const MESSAGE_COUNT = Object.keys(EN).length

export const messageOperations: readonly RestRoute[] = defineComputedList<CatalogMessage>({
  name: 'getMessages',
  field: 'messages',
  summary: 'The texts of pages and messages in a language, as this version has them.',
  scopes: [SCOPE],
  args: MessagesInput,
  members: 'messages',
  ref: defineObjectType<CatalogMessage>(CatalogMessageShape, withScope(SCOPE, DESCRIPTION)),
  countItems: () => MESSAGE_COUNT,
  response: z
    .object({
      messages: z
        .array(CatalogMessageShape)
        .meta({ description: 'Each message, in the order of the catalogs.' }),
    })
    .meta({ id: 'CatalogMessages', description: 'The texts of pages and messages in a language.' }),
  path: '/messages',
  run: async (_ctx: Ctx, given) =>
    Object.entries(CATALOGS.get(parseInput(MessagesInput, given).locale) ?? {}).map(([key, text]) => ({
      key,
      text,
    })),
})
