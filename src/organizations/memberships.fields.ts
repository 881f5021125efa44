import * as z from 'zod'
import { readIdPrefix } from '../core/crypto.ts'
import type { JoinWay } from '../model/join-ways.ts'
import { defineEnum } from '../schema/enums.ts'
import { text } from '../schema/input-shapes.ts'
import { asId, createIdPattern, createIdShape, idShape, instantShape } from '../schema/response-shapes.ts'

const JOINED_VIA = defineEnum<JoinWay>('MembershipOrigin', 'How a user became a member of an organization.', {
  administrator: 'An administrator or a backend added the user.',
  invitation: 'The user accepted an invitation.',
  domain: 'The user proved an e-mail address of a verified domain.',
  provider: 'The user signed in at an identity provider.',
  import: 'The membership was imported.',
})

/** Input of createMembership. */
export const MembershipCreate = z
  .strictObject(
    {
      userId: asId(
        text(200)
          .refine((id) => readIdPrefix(id) === 'user', 'is not an id that starts with user_')
          .meta({ pattern: createIdPattern('user') }),
      ).meta({
        description: 'Id of the user who becomes a member.',
        example: 'user_01k7r3m8wxe4gbr5v2c9t6hznq',
      }),
    },
    'must be an object',
  )
  .meta({ id: 'MembershipCreate', model: 'Membership' })

/** A membership as responses have it. */
export const MembershipShape = z
  .object({
    id: createIdShape('membership').meta({ description: 'Id of the membership.' }),
    organizationId: createIdShape('organization'),
    userId: createIdShape('user'),
    joinedVia: JOINED_VIA.shape.meta({ example: 'administrator' }),
    addedBy: idShape.nullable().meta({ example: 'client_01k7r3m8wxe4gbr5v2c9t6hznq' }),
    updatedAt: instantShape,
    createdAt: instantShape,
  })
  .meta({ id: 'Membership', model: 'Membership' })
