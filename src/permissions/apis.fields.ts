import * as z from 'zod'
import { apiClaimMappings } from '../schema/claim-mapping-shapes.ts'
import { expectedUpdatedAt } from '../schema/expected-updated-at.ts'
import {
  flagField,
  listExamples,
  mapShapes,
  nullableField,
  requiredField,
  standardField,
  textField,
} from '../schema/fields.ts'
import { textIn, toAnswerText } from '../schema/formats.ts'
import { boolean, integer, optional, requiredText, text } from '../schema/input-shapes.ts'
import { languageTag } from '../schema/language-tag.ts'
import { acceptEchoes } from '../schema/response-only.ts'
import { createIdShape, instantShape } from '../schema/response-shapes.ts'
import { tokenName } from '../schema/token-name.ts'
import { createResourceUri } from '../schema/url-shapes.ts'

/** Permissions of an API. */
export const MAX_PERMISSIONS = 500
const MAX_TRANSLATIONS = 50

/** Rejects a list in which two entries have the same `member`. */
const rejectRepetitions =
  <Name extends string>(member: Name) =>
  (entries: { [Key in Name]: string }[], context: z.RefinementCtx) => {
    const seen = new Set<string>()
    for (const [index, { [member]: value }] of entries.entries()) {
      if (seen.has(value))
        context.addIssue({ code: 'custom', path: [index, member], message: 'is given twice' })
      seen.add(value)
    }
  }

/** A text in languages. The members of input and response are the same. */
function createTranslations<Name extends string>(
  typeName: string,
  member: Name,
  max: number,
  sample: string,
) {
  const description = `A ${member} in one language.`
  const samples = { locale: 'de', [member]: sample } as { locale: string } & Record<Name, string>
  const toMember = <Shape extends z.ZodType>(shape: Shape) =>
    ({ [member]: shape.meta({ description: `The ${member}.`, example: sample }) }) as Record<Name, Shape>
  const locale = { description: 'Language tag (BCP 47).', example: 'de' }
  const input = z
    .array(
      z
        .strictObject(
          { locale: languageTag.meta(locale), ...toMember(requiredText(max)) },
          { error: (issue) => (issue.code === 'invalid_type' ? 'must be an object' : undefined) },
        )
        .meta({ id: `${typeName}Input`, description, example: samples }),
      'must be an array',
    )
    .max(MAX_TRANSLATIONS, `must have at most ${MAX_TRANSLATIONS} entries`)
    .superRefine(rejectRepetitions('locale') as never)
  const answer = z.array(
    z
      .object({ locale: textIn('language-tag').meta(locale), ...toMember(z.string()) })
      .meta({ id: typeName, description }),
  )
  return standardField(input, answer, [], [samples])
}

const permissionTranslations = createTranslations(
  'PermissionTranslation',
  'description',
  500,
  'Bestellungen lesen',
)
const permissionSamples = {
  name: 'orders:read',
  description: 'Read orders',
  translations: [{ locale: 'de', description: 'Bestellungen lesen' }],
  isAllowedInOrganizations: true,
}

const permissionInput = z
  .strictObject(
    {
      name: tokenName,
      description: optional(text(500)),
      translations: permissionTranslations.creation,
      isAllowedInOrganizations: optional(boolean),
    },
    { error: (issue) => (issue.code === 'invalid_type' ? 'must be an object' : undefined) },
  )
  .meta({
    id: 'ApiPermissionInput',
    model: 'ApiPermission',
    samples: permissionSamples,
    example: permissionSamples,
  })

const ApiPermissionShape = z
  .object({
    name: z.string(),
    description: z.string().nullable(),
    translations: permissionTranslations.answer,
    isAllowedInOrganizations: z.boolean(),
  })
  .meta({ id: 'ApiPermission', model: 'ApiPermission', samples: permissionSamples })

/** The fields that callers write, in the order of the API. Columns of the same names store them, except permissions. */
export const API_FIELDS = {
  identifier: requiredField(
    createResourceUri(),
    toAnswerText(createResourceUri()),
    'https://api.shop.example',
  ),
  name: requiredField(requiredText(200), z.string(), 'Shop API'),
  description: textField(text(2000), 'Orders and deliveries'),
  translations: createTranslations('ApiTranslation', 'name', 200, 'Laden'),
  tokenExpiryTime: nullableField(integer(60, 86_400), z.int(), 900),
  permissionsInTokens: flagField(true, true),
  groupsInTokens: flagField(false),
  claimMappings: apiClaimMappings,
  permissions: standardField(
    z
      .array(permissionInput, 'must be an array')
      .max(MAX_PERMISSIONS, `must have at most ${MAX_PERMISSIONS} entries`)
      .superRefine(rejectRepetitions('name'))
      .meta({
        description:
          'All its permissions. One that is left out is deleted, and taken from every role that has it.',
      }),
    z.array(ApiPermissionShape).meta({ description: 'Its permissions, by name.' }),
    [],
    [permissionSamples],
  ),
}

const META = { model: 'Api', samples: listExamples(API_FIELDS) }

/** Input of createApi. */
export const ApiCreate = z
  .strictObject(mapShapes(API_FIELDS, 'creation'), 'must be an object')
  .meta({ id: 'ApiCreate', ...META })

/** The fields that only responses have. */
export const API_SERVICE_FIELDS = ['id', 'updatedAt', 'createdAt'] as const

/** Input of updateApi: omitted is unchanged, null and, for text, '' unset. */
export const ApiPatch = z
  .strictObject(
    { ...mapShapes(API_FIELDS, 'change'), ...acceptEchoes(API_SERVICE_FIELDS), expectedUpdatedAt },
    'must be an object',
  )
  .meta({ id: 'ApiPatch', ...META, example: { name: API_FIELDS.name.example } })

/** An API as responses have it. */
export const ApiShape = z
  .object({
    id: createIdShape('api').meta({ description: 'Id of the API.' }),
    ...mapShapes(API_FIELDS, 'answer'),
    updatedAt: instantShape,
    createdAt: instantShape,
  })
  .meta({ id: 'Api', ...META })

const { identifier, name, translations, permissions } = ApiShape.shape

/** An API for organizations, with the permissions that their own roles may have. */
export const PermittedApiShape = z
  .object({
    apiId: createIdShape('api').meta({ description: 'Id of the API.' }),
    identifier,
    name,
    translations,
    permissions: permissions.meta({
      description: 'Those of its permissions that organizations may use, by name.',
    }),
  })
  .meta({
    id: 'PermittedApi',
    ...META,
    description: 'An API, with the permissions that organizations may put into roles of their own.',
  })
