import { cleanTypedText } from '../../../core/typed-text.ts'
import type { Words } from '../../../languages/translations.ts'
import type { Channel } from '../../../model/sign-in-methods.ts'
import { listPasscodeChannels } from '../../../passcodes/passcode-channels.ts'
import { hasSignUp, type SignUpSettings } from '../../../passcodes/sign-up-policy.ts'
import { formatPhoneNumber } from '../../../schema/phone-numbers.ts'

/** Its spaces do not break a line. */
const EXAMPLE_NUMBER = '+41 79 123 45 67'.replaceAll(' ', '\u00a0')

const EXAMPLE_EMAIL = 'you@example.com'

type EntryTexts = {
  label: 'address.email' | 'address.phone' | 'address.either'
  type: 'email' | 'tel' | 'text'
  hint: 'address.hint' | 'address.textHint'
}

const ENTRY_TEXTS: Record<Channel | 'either', EntryTexts> = {
  email: { label: 'address.email', type: 'email', hint: 'address.hint' },
  sms: { label: 'address.phone', type: 'tel', hint: 'address.textHint' },
  either: { label: 'address.either', type: 'text', hint: 'address.hint' },
}

const selectEntry = (channels: readonly Channel[]): Channel | 'either' =>
  channels.length > 1 ? 'either' : (channels[0] ?? 'email')

/** The words of the address field for the channels of the tenant. */
export const getEntryTexts = (channels: readonly Channel[]): EntryTexts => ENTRY_TEXTS[selectEntry(channels)]

const NUMBER_CHARACTERS = /^\+?[\d ()./-]{5,}$/

/** The message about an input that is not an address of the tenant's channels. */
export function describeInvalidAddress({ text }: Words, channels: readonly Channel[], entered = ''): string {
  const [email, number] = [EXAMPLE_EMAIL, EXAMPLE_NUMBER]
  if (channels.includes('sms') && NUMBER_CHARACTERS.test(cleanTypedText(entered)))
    return text('address.enterCountry', { number })
  const entry = selectEntry(channels)
  if (entry === 'either') return text('address.enterEither', { email, number })
  return entry === 'sms' ? text('address.enterPhone', { number }) : text('address.enterEmail', { email })
}

/** An address as pages show it: a phone number in its international form, with spaces. */
export const formatAddress = (address: string): string =>
  address.startsWith('+') && !address.includes('@') ? formatPhoneNumber(address) : address

/** What the entered address is used for. The same for every address. */
export function describeAddressEntry(tenant: SignUpSettings, isCreation: boolean, words: Words): string {
  if (hasSignUp(tenant)) return words.text(isCreation ? 'address.creationHint' : 'address.signUpHint')
  const hint = words.text(getEntryTexts(listPasscodeChannels(tenant)).hint)
  return tenant.signUp === 'invitation' ? words.text('address.invitationHint', { hint }) : hint
}
