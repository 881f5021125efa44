import type { CachedTenant } from '../access/tenant-cache.ts'
import type { Channel } from '../model/sign-in-methods.ts'
import type { SignUpMode } from '../model/sign-up.ts'
import { listPasscodeChannels } from './passcode-channels.ts'
import { type PasscodeAddress, parseAddress } from './passcodes.fields.ts'

/** The settings that decide who may sign up. */
export type SignUpSettings = Pick<
  CachedTenant,
  'signUp' | 'signUpDomains' | 'signInMethods' | 'passcodeChannels'
>

/**
 * Whether strangers may sign up at the tenant. They prove their address by a code, so that a tenant without
 * codes by e-mail has no sign-up.
 */
export const hasSignUp = ({ signUp, signInMethods, passcodeChannels }: SignUpSettings): boolean =>
  (['open', 'domains'] satisfies SignUpMode[] as string[]).includes(signUp) &&
  signInMethods.includes('passcode') &&
  passcodeChannels.includes('email')

/** The channels of the addresses that may sign up, of those of the tenant. */
const SIGN_UP_CHANNELS: readonly Channel[] = ['email']

/** The channels of the addresses that a page asks for: where a new account is asked for, those that may sign up. */
export const listEntryChannels = (tenant: SignUpSettings, isCreation: boolean): Channel[] =>
  listPasscodeChannels(tenant).filter(
    (channel) => !(isCreation && hasSignUp(tenant)) || SIGN_UP_CHANNELS.includes(channel),
  )

/**
 * Whether an address may sign up, whether or not a user has it. A phone number may not: a stranger could make
 * the tenant pay for messages to any number.
 */
export function canSignUp(tenant: SignUpSettings, { channel, key }: PasscodeAddress): boolean {
  if (!SIGN_UP_CHANNELS.includes(channel) || !hasSignUp(tenant)) return false
  return tenant.signUp === 'open' || tenant.signUpDomains.includes(key.slice(key.lastIndexOf('@') + 1))
}

/** Whether an address may sign up, as it was entered. */
export function canAddressSignUp(tenant: SignUpSettings, to: string): boolean {
  const address = parseAddress(to)
  return address !== null && canSignUp(tenant, address)
}
