import { ROLE_NAMES, type Role } from '../core/scopes.ts'
import { defineEnum } from './enums.ts'

export const ROLE = defineEnum<Role>(
  'Role',
  'A set of management scopes that a user can get.',
  Object.fromEntries(
    ROLE_NAMES.map((role) => [
      role,
      `The scopes of role ${role}${role === 'operator' ? ', in tenant system only' : ''}.`,
    ]),
  ) as Record<Role, string>,
)
