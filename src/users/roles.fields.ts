import * as z from 'zod'
import { textIn } from '../schema/formats.ts'
import { roleNames } from '../schema/token-name.ts'

/** The roles of a user, each once; the order does not matter. */
export const RoleSet = z
  .strictObject({
    roles: roleNames.meta({
      description:
        'admin may do everything in the tenant, support helps users, auditor reads, and operator, in tenant system only, manages tenants. Others are management roles of the tenant.',
      example: ['support'],
    }),
  })
  .meta({ id: 'RoleSet', description: 'The roles of a user.' })

const PermittedScope = z
  .object({
    scope: textIn('scope').meta({ description: 'Name of the scope.' }),
    description: z.string().meta({ description: 'Its meaning.' }),
  })
  .meta({ typeName: 'PermittedScope', description: 'A scope that a role permits.' })

/** The roles with their scopes. */
export const RoleDefinitions = z
  .object({
    roles: z
      .array(
        z
          .object({
            role: z.string().meta({ description: 'Name of the role.', example: 'auditor' }),
            scopes: z.array(PermittedScope).meta({
              description: 'The management scopes that it permits.',
              example: [{ scope: 'events:read', description: 'read the event log' }],
            }),
          })
          .meta({ id: 'RoleDefinition', description: 'A role with the management scopes that it permits.' }),
      )
      .meta({ description: 'The built-in roles, and those that the tenant has defined.' }),
  })
  .meta({ id: 'RoleDefinitions', description: 'The roles that users can have.' })
