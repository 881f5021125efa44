import { listPasscodeChannels } from '../../../passcodes/passcode-channels.ts'
import { hasSignUp, type SignUpSettings } from '../../../passcodes/sign-up-policy.ts'
import { getEntryTexts } from '../step/address-texts.ts'

/** What the entered address is used for. The same for every address. */
export function describeAddressEntry(tenant: SignUpSettings, isCreation: boolean): string {
  if (!hasSignUp(tenant)) {
    const { hint } = getEntryTexts(listPasscodeChannels(tenant))
    return tenant.signUp === 'invitation' ? `${hint} New accounts need an invitation.` : hint
  }
  return isCreation
    ? 'We’ll send you a code to confirm it. No password needed.'
    : 'We’ll send you a code to sign in or to create an account. No password needed.'
}
