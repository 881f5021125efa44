import type { Channel } from '../../../core/sign-in-methods.ts'
import { formatPhoneNumber } from '../../../schema/phone-numbers.ts'

/** Its spaces do not break a line. */
const EXAMPLE_NUMBER = '+41 79 123 45 67'.replaceAll(' ', '\u00a0')

type EntryTexts = { label: string; type: 'email' | 'tel' | 'text'; hint: string; example: string }

const ENTRY_TEXTS: Record<Channel | 'either', EntryTexts> = {
  email: {
    label: 'Email address',
    type: 'email',
    hint: 'We’ll send you a code to sign in with. No password needed.',
    example: 'an email address, such as you@example.com',
  },
  sms: {
    label: 'Phone number',
    type: 'tel',
    hint: 'We’ll text you a code to sign in with. No password needed.',
    example: `a phone number, such as ${EXAMPLE_NUMBER}`,
  },
  either: {
    label: 'Email address or phone number',
    type: 'text',
    hint: 'We’ll send you a code to sign in with. No password needed.',
    example: `an email address or a phone number, such as you@example.com or ${EXAMPLE_NUMBER}`,
  },
}

/** The words of the address field for the channels of the tenant. */
export const getEntryTexts = (channels: readonly Channel[]): EntryTexts =>
  ENTRY_TEXTS[channels.length > 1 ? 'either' : (channels[0] ?? 'email')]

const NUMBER_CHARACTERS = /^\+?[\d\s()./-]{5,}$/

/** The message about an input that is not an address of the tenant's channels. */
export const describeInvalidAddress = (channels: readonly Channel[], entered = ''): string =>
  channels.includes('sms') && NUMBER_CHARACTERS.test(entered)
    ? `Enter the phone number with its country code, such as ${EXAMPLE_NUMBER}.`
    : `Enter ${getEntryTexts(channels).example}.`

/** An address as pages show it: a phone number in its international form, with spaces. */
export const formatAddress = (address: string): string =>
  address.startsWith('+') && !address.includes('@') ? formatPhoneNumber(address) : address
