import * as z from 'zod'
import { SCOPE_NAMES } from '../core/scopes.ts'
import { expectedUpdatedAt } from '../schema/expected-updated-at.ts'
import { listExamples, mapShapes, requiredField, textField } from '../schema/fields.ts'
import { asFormat, textIn } from '../schema/formats.ts'
import { oneOf, text } from '../schema/input-shapes.ts'
import { acceptEchoes } from '../schema/response-only.ts'
import { createIdShape, instantShape } from '../schema/response-shapes.ts'
import { roleName } from '../schema/token-name.ts'

/** The fields that callers change. Columns of the same names store them. */
export const MANAGEMENT_ROLE_FIELDS = {
  description: textField(text(2000), 'Manages users of the shop'),
  scopes: requiredField(
    z
      .array(asFormat(oneOf(SCOPE_NAMES as [string, ...string[]]), 'scope'), 'must be an array')
      .min(1, 'must not be empty')
      .max(SCOPE_NAMES.length, `must have at most ${SCOPE_NAMES.length} entries`)
      .transform((scopes) => [...new Set(scopes)].sort()),
    z.array(textIn('scope')),
    ['users:read', 'users:write'],
  ),
}

const META = {
  model: 'ManagementRole',
  samples: { ...listExamples(MANAGEMENT_ROLE_FIELDS), name: 'shop-support' },
}

/** Input of createManagementRole. */
export const ManagementRoleCreate = z
  .strictObject({ name: roleName, ...mapShapes(MANAGEMENT_ROLE_FIELDS, 'creation') }, 'must be an object')
  .meta({ id: 'ManagementRoleCreate', ...META })

/** The fields that no change has. */
export const MANAGEMENT_ROLE_SERVICE_FIELDS = ['id', 'name', 'updatedAt', 'createdAt'] as const

/** Input of updateManagementRole: omitted is unchanged, null and, for text, '' unset. */
export const ManagementRolePatch = z
  .strictObject(
    {
      ...mapShapes(MANAGEMENT_ROLE_FIELDS, 'change'),
      ...acceptEchoes(MANAGEMENT_ROLE_SERVICE_FIELDS),
      expectedUpdatedAt,
    },
    'must be an object',
  )
  .meta({ id: 'ManagementRolePatch', ...META, example: { scopes: MANAGEMENT_ROLE_FIELDS.scopes.example } })

/** A role as responses have it. */
export const ManagementRoleShape = z
  .object({
    id: createIdShape('mgmtrole').meta({ description: 'Id of the role.' }),
    name: z.string(),
    ...mapShapes(MANAGEMENT_ROLE_FIELDS, 'answer'),
    updatedAt: instantShape,
    createdAt: instantShape,
  })
  .meta({ id: 'ManagementRole', ...META })
