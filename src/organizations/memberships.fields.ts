import * as z from 'zod'
import { readIdPrefix } from '../core/crypto.ts'
import type { JoinWay } from '../model/join-ways.ts'
import { defineEnum } from '../schema/enums.ts'
import { textIn } from '../schema/formats.ts'
import { boolean, text } from '../schema/input-shapes.ts'
import { asId, createIdPattern, createIdShape, idShape, instantShape } from '../schema/response-shapes.ts'
import { findDescription } from '../schema/schema-descriptions.ts'

const JOINED_VIA = defineEnum<JoinWay>('MembershipOrigin', 'How a user became a member of an organization.', {
  administrator: 'An administrator or a backend added the user.',
  invitation: 'The user accepted an invitation.',
  domain: 'The user proved an e-mail address of a verified domain.',
  provider: 'The user signed in at an identity provider.',
  import: 'The membership was imported.',
  scim: 'A SCIM client of the organization added the user.',
})

const isAdministrator = boolean.optional().meta({ example: false })

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
      isAdministrator,
    },
    'must be an object',
  )
  .meta({ id: 'MembershipCreate', model: 'Membership' })

/** Input of updateMembership. */
export const MembershipPatch = z
  .strictObject({ isAdministrator }, 'must be an object')
  .meta({ id: 'MembershipPatch', model: 'Membership', example: { isAdministrator: true } })

const describeMember = (name: string) =>
  `${findDescription('User', name)} Null for callers who may not read it: it requires users:read, or an administrator of the organization.`

/** What organizations see of a member. */
export const MemberProfileShape = z.object({
  name: z
    .string()
    .nullable()
    .meta({ description: describeMember('name'), example: 'Ada Lovelace' }),
  email: textIn('email')
    .nullable()
    .meta({ description: describeMember('email'), example: 'ada@example.com' }),
})

/** A membership as responses have it. */
export const MembershipShape = z
  .object({
    id: createIdShape('membership').meta({ description: 'Id of the membership.' }),
    organizationId: createIdShape('organization'),
    userId: createIdShape('user'),
    ...MemberProfileShape.shape,
    isAdministrator: z.boolean().meta({ example: false }),
    joinedVia: JOINED_VIA.shape.meta({ example: 'administrator' }),
    addedBy: idShape.nullable().meta({ example: 'client_01k7r3m8wxe4gbr5v2c9t6hznq' }),
    updatedAt: instantShape,
    createdAt: instantShape,
  })
  .meta({ id: 'Membership', model: 'Membership' })
