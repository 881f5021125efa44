import * as z from 'zod'
import { createIdShape, idShape } from '../schema/response-shapes.ts'

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
