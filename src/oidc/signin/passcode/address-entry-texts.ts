import type { Words } from '../../../languages/words.ts'
import { listPasscodeChannels } from '../../../passcodes/passcode-channels.ts'
import { hasSignUp, type SignUpSettings } from '../../../passcodes/sign-up-policy.ts'
import { getEntryTexts } from '../step/address-texts.ts'

/** What the entered address is used for. The same for every address. */
export function describeAddressEntry(tenant: SignUpSettings, isCreation: boolean, words: Words): string {
  if (hasSignUp(tenant)) return words.text(isCreation ? 'address.creationHint' : 'address.signUpHint')
  const hint = words.text(getEntryTexts(listPasscodeChannels(tenant)).hint)
  return tenant.signUp === 'invitation' ? words.text('address.invitationHint', { hint }) : hint
}
