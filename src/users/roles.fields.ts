import * as z from 'zod'
import { ROLE_NAMES } from '../core/scopes.ts'

const Role = z.enum(ROLE_NAMES, `must be one of ${ROLE_NAMES.join(', ')}`)

/** The roles of a user, each once; the order does not matter. */
export const RoleSet = z
  .strictObject({
    roles: z.array(Role, 'must be a list of roles').meta({
      description: 'admin may do everything, support helps users, auditor reads.',
      example: ['support'],
    }),
  })
  .meta({ id: 'RoleSet', description: 'The roles of a user.' })
