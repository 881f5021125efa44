import * as z from 'zod'
import { defineEnum } from '../schema/enums.ts'
import { expectedUpdatedAt } from '../schema/expected-updated-at.ts'
import { listExamples, mapShapes, requiredField, standardField, textField } from '../schema/fields.ts'
import { requiredText, text } from '../schema/input-shapes.ts'
import { defineFilter } from '../schema/lists.ts'
import { acceptEchoes } from '../schema/response-only.ts'
import { asId, createIdShape, idShape, instantShape } from '../schema/response-shapes.ts'
import { tokenName } from '../schema/token-name.ts'

/** Permissions of a role. */
const MAX_PERMISSIONS = 1000
/** Roles that a user, a client or a group holds. */
export const MAX_HELD = 100

const HOLDER = defineEnum('AppRoleHolder', 'Who may hold a role.', {
  user: 'Users, in the whole tenant.',
  client: 'Machine clients.',
  member: 'Members of an organization, in it.',
})
export type AppRoleHolder = (typeof HOLDER.values)[number]

const permission = { apiId: 'api_01k7r3m8wxe4gbr5v2c9t6hznq', name: 'orders:read' }
const permissionMeta = {
  apiId: { description: 'Id of the API.', example: permission.apiId },
  name: { description: 'Name of the permission.', example: permission.name },
}

const permissionInput = z
  .strictObject(
    {
      apiId: asId(requiredText(100)).meta(permissionMeta.apiId),
      name: requiredText(100).meta(permissionMeta.name),
    },
    { error: (issue) => (issue.code === 'invalid_type' ? 'must be an object' : undefined) },
  )
  .meta({ id: 'AppRolePermissionInput', description: 'A permission of an API.', example: permission })

const AppRolePermissionShape = z
  .object({
    apiId: createIdShape('api').meta(permissionMeta.apiId),
    name: z.string().meta(permissionMeta.name),
  })
  .meta({ id: 'AppRolePermission', description: 'A permission that a role gives.' })

/** The fields that callers change. Columns of the same names store them, except permissions. */
export const APP_ROLE_FIELDS = {
  name: requiredField(tokenName, z.string(), 'order-clerk'),
  description: textField(text(2000), 'Enters orders'),
  permissions: standardField(
    z
      .array(permissionInput, 'must be an array')
      .max(MAX_PERMISSIONS, `must have at most ${MAX_PERMISSIONS} entries`)
      .meta({ description: 'All permissions that it gives, of any APIs.' }),
    z.array(AppRolePermissionShape).meta({ description: 'The permissions that it gives.' }),
    [],
    [permission],
  ),
}

const META = {
  model: 'AppRole',
  samples: { ...listExamples(APP_ROLE_FIELDS), organizationId: null, assignableTo: ['user'] },
}

/** Input of createAppRole. */
export const AppRoleCreate = z
  .strictObject(
    {
      ...mapShapes(APP_ROLE_FIELDS, 'creation'),
      organizationId: asId(requiredText(100)).nullish(),
      assignableTo: z
        .array(HOLDER.shape, 'must be a list')
        .min(1, 'must not be empty')
        .nullish()
        .transform((holders) => holders && [...new Set(holders)].sort())
        .meta({
          description:
            'Who may hold it: users by default, members of the organization if it has one. It never changes.',
        }),
    },
    'must be an object',
  )
  .meta({ id: 'AppRoleCreate', ...META })

/** The fields that no change has. */
export const APP_ROLE_SERVICE_FIELDS = [
  'id',
  'organizationId',
  'assignableTo',
  'updatedAt',
  'createdAt',
] as const

/** Input of updateAppRole: omitted is unchanged, null and, for text, '' unset. */
export const AppRolePatch = z
  .strictObject(
    { ...mapShapes(APP_ROLE_FIELDS, 'change'), ...acceptEchoes(APP_ROLE_SERVICE_FIELDS), expectedUpdatedAt },
    'must be an object',
  )
  .meta({ id: 'AppRolePatch', ...META, example: { description: APP_ROLE_FIELDS.description.example } })

/** A role as responses have it. */
export const AppRoleShape = z
  .object({
    id: createIdShape('role').meta({ description: 'Id of the role.' }),
    ...mapShapes(APP_ROLE_FIELDS, 'answer'),
    organizationId: createIdShape('organization').nullable(),
    assignableTo: z.array(HOLDER.shape),
    updatedAt: instantShape,
    createdAt: instantShape,
  })
  .meta({ id: 'AppRole', ...META })

const OWNER = defineEnum('AppRoleOwner', 'Whose role it is.', {
  tenant: 'A role of the tenant, which all organizations have.',
  organization: 'A role of one organization.',
})

/** Which roles a list is about. */
export const APP_ROLE_FILTER = defineFilter({
  owner: { shape: OWNER.shape, column: null, description: 'Of these owners.', example: 'tenant' },
  organizationId: { shape: asId(requiredText(100)), description: 'Of this organization itself.' },
})

/** The roles that somebody holds from then on. */
export const AppRoleSet = z
  .strictObject(
    {
      appRoleIds: z
        .array(asId(requiredText(100)), 'must be a list of ids')
        .max(MAX_HELD, `must have at most ${MAX_HELD} entries`)
        .meta({
          description: `Ids of all roles that are held directly from then on, at most ${MAX_HELD}.`,
          example: ['role_01k7r3m8wxe4gbr5v2c9t6hznq'],
        }),
    },
    'must be an object',
  )
  .meta({ id: 'AppRoleSet', description: 'The roles at APIs that a user or a client holds directly.' })

/** Roles in REST responses, which are few. */
export const HeldAppRolesShape = z
  .object({ appRoles: z.array(AppRoleShape).meta({ description: 'The roles, by name.' }) })
  .meta({ id: 'HeldAppRoles', description: 'The roles at APIs that a user or a client holds directly.' })

/** A role that a provider gave a member. */
export const ProvidedAppRoleShape = z
  .object({
    appRoleId: createIdShape('role').meta({ description: 'Id of the role.' }),
    idpId: z.string().meta({ description: 'Id of the identity provider.', example: 'partner' }),
    idpName: z.string().meta({ description: 'Name of the identity provider.', example: 'Partner' }),
  })
  .meta({ id: 'ProvidedAppRole', description: 'A role that an identity provider gave a member by a claim.' })

/** The roles of a member in REST responses. */
export const HeldMemberAppRolesShape = HeldAppRolesShape.extend({
  providedAppRoles: z
    .array(ProvidedAppRoleShape)
    .meta({ description: 'Which of them an identity provider gave, and takes away, by id.' }),
}).meta({ id: 'HeldMemberAppRoles', description: 'The roles at APIs that a member holds directly.' })

/** Roles that were set, which only callers with roles:read see. */
export const SetAppRolesShape = z
  .object({
    appRoles: HeldAppRolesShape.shape.appRoles
      .nullable()
      .meta({ description: 'The roles, by name; null for callers without roles:read.' }),
  })
  .meta({ id: 'SetAppRoles', description: 'The roles at APIs that are held directly from then on.' })

/** Who holds a role directly: one of user, client and group, or a user with an organization, in which the member holds it. */
export const RoleHolderShape = z
  .object({
    holderId: idShape.meta({ description: 'Id of the user, the client, the membership or the group.' }),
    userId: createIdShape('user').nullable().meta({ description: 'Id of the user, or of the member.' }),
    clientId: idShape.nullable().meta({ description: 'Id of the machine client.', example: null }),
    groupId: createIdShape('group').nullable().meta({ description: 'Id of the group.', example: null }),
    organizationId: createIdShape('organization')
      .nullable()
      .meta({ description: 'Id of the organization of the member or of the group.', example: null }),
  })
  .meta({
    id: 'AppRoleHolding',
    description:
      'Who holds a role directly: a user, a machine client, a group, or a member of an organization in it.',
  })
