import * as z from 'zod'
import { readIdPrefix } from '../../core/crypto.ts'
import { createIdPattern } from '../../schema/response-shapes.ts'
import { UserShape } from '../users.fields.ts'
import { LINE_PARTS } from './line-parts.fields.ts'

const { totpKey: _, identities: __, ...EXPORTED_PARTS } = LINE_PARTS

export const ExportOptions = z.strictObject({
  afterId: z
    .string()
    .refine((id) => readIdPrefix(id) === 'user', 'must be the id of a user')
    .meta({ pattern: createIdPattern('user') })
    .optional()
    .meta({
      description: 'Only users after this id, to continue an interrupted export.',
      example: 'user_01k7r3m8wxe4gbr5v2c9t6hznq',
    }),
})

/** A line of an export: the user as REST returns it, and externalId. */
export const ExportedUser = UserShape.extend({
  externalId: z.string().nullable().meta({
    description: 'Identifier of the user in the system that they were imported from.',
    example: 'crm-10815',
  }),
  ...EXPORTED_PARTS,
}).meta({ id: 'ExportedUser', model: 'User' })
