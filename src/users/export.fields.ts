import { z } from 'zod'
import { prefixOf } from '../crypto.ts'
import { UserShape } from './users.fields.ts'

export const ExportOptions = z.strictObject({
  afterId: z
    .string()
    .refine((id) => prefixOf(id) === 'user', 'must be the id of a user')
    .optional()
    .meta({
      description: 'Users behind this id only: to go on behind the last line that arrived.',
      example: 'user_01k7r3m8wxe4gbr5v2c9t6hznq',
    }),
})

/** A line of an export: the user as REST answers it, and the identifier of an import. */
export const ExportedUser = UserShape.extend({
  externalId: z.string().nullable().meta({
    description: 'Identifier of the user in the system that they were imported from.',
    example: 'crm-10815',
  }),
}).meta({ id: 'ExportedUser', model: 'User' })
