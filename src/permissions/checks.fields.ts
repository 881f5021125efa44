import * as z from 'zod'
import { defineEnum } from '../schema/enums.ts'
import { boolean, requiredText } from '../schema/input-shapes.ts'
import { defineFilter } from '../schema/lists.ts'
import { asId, createIdShape } from '../schema/response-shapes.ts'

/** Checks of one call. */
const MAX_CHECKS = 1000

const shapes = { userId: asId(requiredText(100)), text: requiredText(2000) }

const MEMBERS = {
  userId: shapes.userId.meta({
    description: 'Id of the user.',
    example: 'user_01k7r3m8wxe4gbr5v2c9t6hznq',
  }),
  permission: shapes.text.meta({ description: 'Name of the permission.', example: 'orders:read' }),
  api: shapes.text.meta({ description: 'Identifier of the API.', example: 'https://api.shop.example' }),
  organizationId: shapes.userId.nullish().meta({
    description: 'Id of the organization in which it is asked; none for the tenant.',
    example: null,
  }),
}

const CHECK_EXAMPLE = {
  userId: 'user_01k7r3m8wxe4gbr5v2c9t6hznq',
  permission: 'orders:read',
  api: 'https://api.shop.example',
}

const explain = boolean.nullish().meta({
  description: 'Returns how the user gets the permission: up to ten ways. False by default.',
  example: true,
})

/** Input of checkPermission. */
export const PermissionCheck = z
  .strictObject({ ...MEMBERS, explain }, 'must be an object')
  .meta({ id: 'PermissionCheck', description: 'Whether a user has a permission.' })

/** Input of checkPermissions. */
export const PermissionChecks = z
  .strictObject(
    {
      checks: z
        .array(
          z
            .strictObject(MEMBERS, {
              error: (issue) => (issue.code === 'invalid_type' ? 'must be an object' : undefined),
            })
            .meta({
              id: 'PermissionCheckInput',
              description: 'Whether a user has a permission.',
              example: CHECK_EXAMPLE,
            }),
          'must be a list',
        )
        .min(1, 'must not be empty')
        .max(MAX_CHECKS, `must have at most ${MAX_CHECKS} checks`)
        .meta({
          description: `Up to ${MAX_CHECKS} checks, answered in this order.`,
          example: [CHECK_EXAMPLE],
        }),
      explain,
    },
    'must be an object',
  )
  .meta({ id: 'PermissionChecks', description: 'Whether users have permissions.' })

const REASON = defineEnum('PermissionReason', 'Why a check is answered so.', {
  granted: 'The user has a role that gives the permission.',
  'no-user': 'There is no such user.',
  locked: 'The user is locked.',
  'no-permission': 'No API with this identifier has such a permission.',
  'no-member': 'The user does not belong to the organization.',
  'no-role': 'The user has no role that gives it.',
})
export type PermissionReason = (typeof REASON.values)[number]

const PermissionPathShape = z
  .object({
    roleId: createIdShape('role').meta({ description: 'Id of the role that gives the permission.' }),
    roleName: z.string().meta({ description: 'Its name.', example: 'order-clerk' }),
    groupId: createIdShape('group')
      .nullable()
      .meta({ description: 'The group that has the role; null where the user holds it.', example: null }),
    groupName: z.string().nullable().meta({ description: 'Its name.', example: null }),
    membershipId: createIdShape('membership')
      .nullable()
      .meta({ description: 'The membership that has the role; null otherwise.', example: null }),
  })
  .meta({
    id: 'PermissionPath',
    description: 'How a user gets a permission: directly or by a group, by a role.',
  })

/** The answer to a check. */
export const PermissionResultShape = z
  .object({
    isPermitted: z.boolean().meta({ description: 'Whether the user has the permission.', example: true }),
    reason: REASON.shape.meta({ description: 'Why.', example: 'granted' }),
    paths: z
      .array(PermissionPathShape)
      .meta({ description: 'How the user gets it, up to ten ways; empty without `explain`.' }),
  })
  .meta({ id: 'PermissionResult', description: 'The answer to a check.' })

/** The answers to several checks. */
export const PermissionResultsShape = z
  .object({
    results: z.array(PermissionResultShape).meta({ description: 'The answers, in the order of the checks.' }),
  })
  .meta({ id: 'PermissionResults', description: 'The answers to checks.' })

/** Whose permission a list is about. */
export const PERMISSION_FILTER = defineFilter(
  {
    permission: {
      shape: shapes.text,
      description: 'Name of the permission.',
      example: 'orders:read',
      scope: 'roles:read',
    },
    api: {
      shape: shapes.text,
      description: 'Identifier of the API.',
      example: 'https://api.shop.example',
      scope: 'roles:read',
    },
    organizationId: {
      shape: shapes.userId,
      description: 'Id of the organization in which it is asked.',
      scope: 'roles:read',
    },
  },
  'Only users who have this permission of this API: nobody without `permission` or `api`.',
)

/** A permission of a user. */
export const UserPermissionShape = z
  .object({
    api: z.string().meta({ description: 'Identifier of the API.', example: 'https://api.shop.example' }),
    name: z.string().meta({ description: 'Name of the permission.', example: 'orders:read' }),
  })
  .meta({ id: 'UserPermission', description: 'A permission that a user has.' })
