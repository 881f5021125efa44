import * as z from 'zod'
import { isJsonObject } from '../core/json/json-object.ts'
import type { PolicyRule } from '../model/organization-policy.ts'
import { SESSION_SECONDS } from '../model/session-settings.ts'
import { expectedUpdatedAt } from '../schema/expected-updated-at.ts'
import {
  flagField,
  listExamples,
  listField,
  mapShapes,
  nullableField,
  requiredField,
  standardField,
  textField,
} from '../schema/fields.ts'
import { color } from '../schema/formats.ts'
import { createImageUrl } from '../schema/image-shapes.ts'
import { integer, metadata, requiredText, searchText, text } from '../schema/input-shapes.ts'
import { ipNetwork } from '../schema/ip-network.ts'
import { defineFilter, defineOrder, type Given } from '../schema/lists.ts'
import { SIGN_IN_METHOD } from '../schema/model-enums.ts'
import { CANNOT_BE_CHANGED, isUnchanged, SET_BY_SERVICE } from '../schema/response-only.ts'
import { createIdShape, instantShape, jsonObjectShape } from '../schema/response-shapes.ts'
import { slugText } from '../schema/slug.ts'

/** What the organization demands of those who use tokens for it. See docs/decisions/0211. */
const POLICY_FIELDS = {
  signInMethods: listField(SIGN_IN_METHOD.shape, { example: ['passkey', 'provider'] }),
  requireSecondFactor: flagField(false, true),
  sessionLifetimeSeconds: nullableField(integer(SESSION_SECONDS.min, SESSION_SECONDS.max), z.int(), 28_800),
  allowedNetworks: listField(ipNetwork, { isPlain: true, max: 50, example: ['203.0.113.0/24'] }),
} satisfies Record<PolicyRule, unknown>

/** The fields that callers write, in the order of the API. Columns of the same names store them. */
const ORGANIZATION_FIELDS = {
  slug: requiredField(slugText, z.string(), 'acme'),
  name: requiredField(requiredText(200), z.string(), 'Acme Inc.'),
  logoUrl: textField(createImageUrl(), 'https://acme.example/logo.png'),
  themeColor: textField(color, '#0a7c66'),
  metadata: standardField(metadata, jsonObjectShape, {}, { plan: 'pro' }),
  externalId: textField(text(255), 'crm-4711'),
  ...POLICY_FIELDS,
}
type OrganizationField = keyof typeof ORGANIZATION_FIELDS
export const ORGANIZATION_FIELD_NAMES = Object.keys(ORGANIZATION_FIELDS) as OrganizationField[]

const META = { model: 'Organization', samples: listExamples(ORGANIZATION_FIELDS) }

/** Which organizations a list is about. */
export const ORGANIZATION_FILTER = defineFilter({
  search: {
    shape: searchText,
    column: null,
    description: 'Prefixes of words of the name or of the slug, independent of case and accents.',
    example: 'acm',
  },
  externalId: {
    shape: requiredText(255),
    description: 'Identifier in the system that it was imported from.',
  },
})
export type OrganizationFilter = Given<typeof ORGANIZATION_FILTER.members>

/** What organizations can be ordered by, besides the order of their ids, which is that of creation. */
export const ORGANIZATION_ORDER = defineOrder(
  'Organization',
  { name: 'Name, ignoring case and accents.' },
  {
    description: 'How organizations are ordered.',
    fields: 'Fields by which organizations can be ordered.',
    field: 'The field of the order. Default: for a search the matched word, otherwise the id.',
  },
)
export type OrganizationOrder = (typeof ORGANIZATION_ORDER.by.fields)[number]

/** Input of createOrganization. */
export const OrganizationCreate = z
  .strictObject(mapShapes(ORGANIZATION_FIELDS, 'creation'), 'must be an object')
  .meta({ id: 'OrganizationCreate', ...META })

const echo = z
  .unknown()
  .optional()
  .meta({ description: 'Ignored if it equals the returned value.', readOnly: true })

/** Input of updateOrganization: omitted is unchanged, null and, for text, '' unset. */
export const OrganizationPatch = z
  .strictObject(
    {
      id: echo,
      ...mapShapes(ORGANIZATION_FIELDS, 'change'),
      updatedAt: echo,
      createdAt: echo,
      expectedUpdatedAt,
    },
    'must be an object',
  )
  .meta({ id: 'OrganizationPatch', ...META, example: { name: ORGANIZATION_FIELDS.name.example } })

/** Input of updateOrganization for a stored organization. */
export const createOrganizationPatch = (current: { id: string; updatedAt: Date; createdAt: Date }) =>
  OrganizationPatch.superRefine(
    (patch, context) => {
      for (const name of ['id', 'updatedAt', 'createdAt'] as const)
        if (patch[name] !== undefined && !isUnchanged(patch[name], current[name]))
          context.addIssue({
            code: 'custom',
            path: [name],
            message: name === 'id' ? CANNOT_BE_CHANGED : SET_BY_SERVICE,
          })
    },
    { when: ({ value }) => isJsonObject(value) },
  )

/** Input of getOrganizationBySlug. */
export const SlugLookup = z.strictObject({
  slug: requiredText(63).meta({ description: 'Slug of the organization.', example: 'acme' }),
})

/** An organization as responses have it. */
export const OrganizationShape = z
  .object({
    id: createIdShape('organization').meta({ description: 'Id of the organization.' }),
    ...mapShapes(ORGANIZATION_FIELDS, 'answer'),
    updatedAt: instantShape,
    createdAt: instantShape,
  })
  .meta({ id: 'Organization', ...META })
