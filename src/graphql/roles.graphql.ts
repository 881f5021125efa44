import { ROLE_NAMES, type Role } from '../core/scopes.ts'
import { builder } from './builder.ts'

export const RoleEnum = builder.enumType('Role', {
  description: 'A set of management scopes that a user can get.',
  values: Object.fromEntries(
    ROLE_NAMES.map((role) => [
      role.toUpperCase(),
      { value: role, description: `The scopes of role ${role}.` },
    ]),
  ) as Record<Uppercase<Role>, { value: Role; description: string }>,
})
