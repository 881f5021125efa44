import { CHOSEN_METHODS, type ChosenMethodName, METHOD_DESCRIPTIONS } from '../model/sign-in-methods.ts'
import { defineEnum } from './enums.ts'

export const SIGN_IN_METHOD = defineEnum<ChosenMethodName>(
  'SignInMethod',
  'A way to sign in on the hosted pages.',
  Object.fromEntries(CHOSEN_METHODS.map((name) => [name, METHOD_DESCRIPTIONS[name]])) as Record<
    ChosenMethodName,
    string
  >,
)
