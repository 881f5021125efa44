import { ROLE_NAMES, type Role } from '../core/scopes.ts'
import { CHOSEN_METHODS, type ChosenMethodName, METHOD_DESCRIPTIONS } from '../model/sign-in-methods.ts'
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

export const SIGN_IN_METHOD = defineEnum<ChosenMethodName>(
  'SignInMethod',
  'A way to sign in on the hosted pages.',
  Object.fromEntries(CHOSEN_METHODS.map((name) => [name, METHOD_DESCRIPTIONS[name]])) as Record<
    ChosenMethodName,
    string
  >,
)
