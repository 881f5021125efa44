import * as z from 'zod'
import { ROLE } from '../schema/roles.ts'

/** The roles of a user, each once; the order does not matter. */
export const RoleSet = z
  .strictObject({
    roles: z.array(ROLE.shape, 'must be a list of roles').meta({
      description: 'admin may do everything, support helps users, auditor reads.',
      example: ['support'],
    }),
  })
  .meta({ id: 'RoleSet', description: 'The roles of a user.' })
