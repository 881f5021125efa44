import * as z from 'zod'
import { defineEnum } from '../schema/enums.ts'
import { expectedUpdatedAt } from '../schema/expected-updated-at.ts'
import { createField, listExamples, mapShapes, requiredField, textField } from '../schema/fields.ts'
import { requiredText, text } from '../schema/input-shapes.ts'
import { defineFilter } from '../schema/lists.ts'
import { acceptEchoes } from '../schema/response-only.ts'
import { asId, createIdShape, instantShape } from '../schema/response-shapes.ts'

/** Members of one call. */
const MAX_NAMED = 1000

const id = asId(requiredText(100))

/** The fields that callers change. Columns of the same names store them. */
export const GROUP_FIELDS = {
  name: requiredField(requiredText(200), z.string(), 'Order desk'),
  description: textField(text(2000), 'Everybody who enters orders'),
  parentId: createField({
    creation: id.nullish(),
    change: id.nullish(),
    answer: createIdShape('group').nullable(),
    standard: null,
    example: null,
  }),
}

const META = { model: 'Group', samples: { ...listExamples(GROUP_FIELDS), organizationId: null } }

/** Input of createGroup. */
export const GroupCreate = z
  .strictObject({ ...mapShapes(GROUP_FIELDS, 'creation'), organizationId: id.nullish() }, 'must be an object')
  .meta({ id: 'GroupCreate', ...META })

/** The fields that no change has. */
export const GROUP_SERVICE_FIELDS = ['id', 'organizationId', 'updatedAt', 'createdAt'] as const

/** Input of updateGroup: omitted is unchanged, null and, for text, '' unset. */
export const GroupPatch = z
  .strictObject(
    { ...mapShapes(GROUP_FIELDS, 'change'), ...acceptEchoes(GROUP_SERVICE_FIELDS), expectedUpdatedAt },
    'must be an object',
  )
  .meta({ id: 'GroupPatch', ...META, example: { name: GROUP_FIELDS.name.example } })

/** A group as responses have it. */
export const GroupShape = z
  .object({
    id: createIdShape('group').meta({ description: 'Id of the group.' }),
    ...mapShapes(GROUP_FIELDS, 'answer'),
    organizationId: createIdShape('organization').nullable(),
    updatedAt: instantShape,
    createdAt: instantShape,
  })
  .meta({ id: 'Group', ...META })

/** Members that are added or removed. */
export const GroupMembers = z
  .strictObject(
    {
      userIds: z
        .array(id, 'must be a list of ids')
        .min(1, 'must name a user')
        .max(MAX_NAMED, `must name at most ${MAX_NAMED} users`)
        .meta({
          description: `Ids of the users, at most ${MAX_NAMED}.`,
          example: ['user_01k7r3m8wxe4gbr5v2c9t6hznq'],
        }),
    },
    'must be an object',
  )
  .meta({ id: 'GroupMembers', description: 'Users who become members of a group, or stop being it.' })

const OWNER = defineEnum('GroupOwner', 'Whose group it is.', {
  tenant: 'A group of the tenant itself.',
  organization: 'A group of an organization.',
})

/** Which groups a list is about. */
export const GROUP_FILTER = defineFilter({
  owner: { shape: OWNER.shape, column: null, description: 'Of these owners.', example: 'tenant' },
  organizationId: { shape: id, description: 'Of this organization.' },
  parentId: { shape: id, description: 'Nested in this group.' },
})
