import * as z from 'zod'
import { ROLE_NAMES } from '../core/scopes.ts'
import { INVITATION_LIFETIME_SECONDS } from '../core/sign-up.ts'
import { integer, optional, text } from '../schema/input-shapes.ts'
import { languageTag } from '../schema/language-tag.ts'
import { clientIdShape, createIdShape, instantShape } from '../schema/response-shapes.ts'
import { emailAddress } from '../users/user-texts.fields.ts'

const { min, max, standard } = INVITATION_LIFETIME_SECONDS

export const INVITATION_STATUSES = ['pending', 'accepted', 'revoked', 'expired'] as const
export type InvitationStatus = (typeof INVITATION_STATUSES)[number]

const invitationSamples = {
  email: 'grace@example.com',
  name: 'Grace Hopper',
  note: 'New in support',
  locale: 'en',
}

const role = z.enum(ROLE_NAMES, `must be one of ${ROLE_NAMES.join(', ')}`)

/** Input of createInvitation. */
export const InvitationCreate = z
  .strictObject(
    {
      email: emailAddress.meta({ description: 'E-mail address of the person.' }),
      name: optional(text()),
      note: optional(text(200)),
      roles: z
        .array(role, 'must be a list of roles')
        .nullish()
        .transform((roles) => [...new Set(roles ?? [])].sort())
        .meta({
          description: 'Roles that the user gets on acceptance. Callers can only give scopes that they have.',
          example: ['support'],
        }),
      locale: optional(languageTag),
      clientId: optional(text(2000)).meta({
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
  .meta({ id: 'InvitationCreate', model: 'Invitation', samples: invitationSamples })

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
    id: createIdShape('invitation'),
    email: z.string(),
    name: z.string().nullable(),
    note: z.string().nullable(),
    roles: z.array(z.enum(ROLE_NAMES)).meta({ example: ['support'] }),
    locale: z.string().nullable(),
    clientId: clientIdShape.nullable(),
    status: z
      .enum(INVITATION_STATUSES)
      .meta({ description: 'pending, accepted, revoked or expired.', example: 'pending' }),
    userId: createIdShape('user').nullable().meta({ example: null }),
    sentAt: instantShape.meta({ description: 'When the last message was sent.' }),
    acceptedAt: instantShape.nullable().meta({ description: 'When the person accepted.', example: null }),
    expiresAt: instantShape.meta({ description: 'When the link expires.' }),
    createdAt: instantShape.meta({ description: 'When the person was invited.' }),
  })
  .meta({ id: 'Invitation', model: 'Invitation', samples: invitationSamples })
