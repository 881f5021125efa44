import * as z from 'zod'
import { readIdPrefix } from '../core/crypto.ts'
import { INVITATION_LIFETIME_SECONDS } from '../model/sign-up.ts'
import { emailAddress } from '../schema/address-shapes.ts'
import { defineEnum } from '../schema/enums.ts'
import { textIn } from '../schema/formats.ts'
import { boolean, integer, optional, requiredText, text } from '../schema/input-shapes.ts'
import { languageTag } from '../schema/language-tag.ts'
import { defineFilter } from '../schema/lists.ts'
import {
  asId,
  clientIdShape,
  createIdPattern,
  createIdShape,
  instantShape,
} from '../schema/response-shapes.ts'
import { roleNames } from '../schema/token-name.ts'

const { min, max, standard } = INVITATION_LIFETIME_SECONDS

const INVITATION_STATUS = defineEnum('InvitationStatus', 'The status of an invitation.', {
  pending: 'The link works.',
  accepted: 'The person has accepted.',
  revoked: 'An administrator has revoked it, or the person has declined it.',
  expired: 'The link has expired; it can be sent again.',
})
export type InvitationStatus = (typeof INVITATION_STATUS.values)[number]

const invitationSamples = {
  email: 'grace@example.com',
  name: 'Grace Hopper',
  note: 'New in support',
  locale: 'en',
}

/** Input of createInvitation. */
export const InvitationCreate = z
  .strictObject(
    {
      email: emailAddress.meta({ description: 'E-mail address of the person.' }),
      name: optional(text()),
      note: optional(text(200)),
      roles: roleNames
        .nullish()
        .transform((roles) => [...new Set(roles ?? [])].sort())
        .meta({
          description: 'Roles that the user gets on acceptance. Callers can only give scopes that they have.',
          example: ['support'],
        }),
      locale: optional(languageTag),
      organizationId: optional(
        asId(
          text(200)
            .refine(
              (id) => readIdPrefix(id) === 'organization',
              'is not an id that starts with organization_',
            )
            .meta({ pattern: createIdPattern('organization') }),
        ),
      ).meta({
        description:
          'Organization whose member the user becomes on acceptance. Requires scope organizations:write.',
        example: 'organization_01k7r3m8wxe4gbr5v2c9t6hznq',
      }),
      appRoleIds: z
        .array(asId(requiredText(100)), 'must be a list of ids')
        .max(100, 'must have at most 100 roles')
        .nullish()
        .transform((ids) => [...new Set(ids ?? [])])
        .meta({
          description:
            'Roles at APIs that the member gets in the organization, assignable to members. Requires scope roles:write.',
          example: [],
        }),
      isAdministrator: boolean
        .nullish()
        .transform((value) => value ?? false)
        .meta({ description: 'The member becomes an administrator of the organization.', example: false }),
      clientId: optional(asId(text(2000))).meta({
        description: 'Id of the client that the person continues to.',
        example: 'client_01k7r3m8wxe4gbr5v2c9t6hznq',
      }),
      expiresInSeconds: integer(min, max)
        .nullish()
        .meta({
          description: `Lifetime of the link in seconds, ${min} to ${max}; invitationLifetimeSeconds of the tenant by default.`,
          example: standard,
        }),
    },
    'must be an object',
  )
  .superRefine(({ organizationId, appRoleIds, isAdministrator }, context) => {
    if (organizationId) return
    const needing = [
      ...(appRoleIds.length > 0 ? ['appRoleIds'] : []),
      ...(isAdministrator ? ['isAdministrator'] : []),
    ]
    for (const name of needing)
      context.addIssue({ code: 'custom', path: [name], message: 'is for an invitation to an organization' })
  })
  .meta({ id: 'InvitationCreate', model: 'Invitation', samples: invitationSamples })

/** Which invitations a list is about. */
export const INVITATION_FILTER = defineFilter({
  organizationId: { shape: asId(requiredText(100)), description: 'To this organization.' },
})

/** Input of resendInvitation. */
export const InvitationResend = z
  .strictObject(
    {
      expiresInSeconds: integer(min, max)
        .nullish()
        .meta({
          description: `Lifetime of the new link in seconds, ${min} to ${max}; that of the former link by default.`,
          example: standard,
        }),
    },
    'must be an object',
  )
  .meta({ id: 'InvitationResend', description: 'Another message of an invitation.' })

/** An invitation in REST responses. */
export const InvitationShape = z
  .object({
    id: createIdShape('invitation').meta({ description: 'Id of the invitation.' }),
    email: textIn('email'),
    name: z.string().nullable(),
    note: z.string().nullable(),
    roles: z.array(z.string()).meta({ example: ['support'] }),
    locale: textIn('language-tag').nullable(),
    organizationId: createIdShape('organization').nullable().meta({ example: null }),
    appRoleIds: z.array(createIdShape('role')).meta({ example: [] }),
    isAdministrator: z.boolean().meta({ example: false }),
    clientId: clientIdShape.nullable(),
    status: INVITATION_STATUS.shape.meta({
      description: 'pending, accepted, revoked or expired.',
      example: 'pending',
    }),
    userId: createIdShape('user').nullable().meta({ example: null }),
    sentAt: instantShape.meta({ description: 'When the last message was sent.' }),
    acceptedAt: instantShape.nullable().meta({ description: 'When the person accepted.', example: null }),
    expiresAt: instantShape.meta({ description: 'When the link expires.' }),
    createdAt: instantShape.meta({ description: 'When the person was invited.' }),
  })
  .meta({ id: 'Invitation', model: 'Invitation', samples: invitationSamples })
