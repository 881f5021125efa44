import {
  type CountryCode,
  getCountries,
  type PhoneNumber,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max'
import { cleanTypedText } from '../core/typed-text.ts'

/** Longer than any number with its extension and punctuation. */
const PHONE_NUMBER_LENGTH = 100

/** A country in ISO 3166-1 alpha-2 that has phone numbers. */
export type Country = CountryCode

export const COUNTRIES = getCountries()
const KNOWN_COUNTRIES: ReadonlySet<string> = new Set(COUNTRIES)
export const isCountry = (text: string): text is Country => KNOWN_COUNTRIES.has(text)

/** Types of numbers that receive text messages. */
const MOBILE_TYPES = new Set(['MOBILE', 'FIXED_LINE_OR_MOBILE'])
const isMobile = (number: PhoneNumber): boolean => MOBILE_TYPES.has(number.getType() ?? '')

const parsePossible = (text: string, defaultCountry?: Country): PhoneNumber[] => {
  const parsed = parsePhoneNumberFromString(text, { defaultCountry, extract: false })
  return parsed?.isPossible() ? [parsed] : []
}

const cleanNumber = (text: string): string => cleanTypedText(text).replace(/^tel:/i, '')

/**
 * A phone number in E.164, with an extension as `;ext=` (RFC 3966), which is also its key. Null unless `text` has a country code and a length that is possible there, or is a number in the national
 * form of one of `countries`. Of several readings, a mobile number comes first, then a valid number, then the
 * order of `countries`. See docs/decisions/0129.
 */
export function parsePhoneNumber(text: string, countries: readonly Country[] = []): string | null {
  const normal = cleanNumber(text)
  if (normal.length > PHONE_NUMBER_LENGTH || /\p{C}/u.test(normal)) return null
  const [international] = parsePossible(normal)
  const readings = international
    ? [international]
    : countries.flatMap((country) => parsePossible(normal, country))
  const number = readings.find(isMobile) ?? readings.find((reading) => reading.isValid()) ?? readings[0]
  if (!number) return null
  return number.ext ? `${number.number};ext=${number.ext}` : number.number
}

/** Two digits or more with what divides them, and an extension. */
const LOCAL_NUMBER = /^(?=\D*\d\D*\d)([\d()./ -]+?)(?: ?(?:;ext=|;?ext\.? ?|x|#) ?(\d{1,15}))?$/i

/** A phone number as a user has it: what is stored and shown, and the key by which it is found and unique. */
export type StoredPhoneNumber = { number: string; key: string }

/**
 * A phone number in E.164, or one without a country code, as it was given. The latter is known by its digits, and
 * nothing is sent to it. Null for other text.
 */
export function toStoredPhoneNumber(text: string): StoredPhoneNumber | null {
  const international = parsePhoneNumber(text)
  if (international) return { number: international, key: international }
  const number = cleanNumber(text)
  const [, digits, extension] = (number.length <= PHONE_NUMBER_LENGTH && LOCAL_NUMBER.exec(number)) || []
  if (digits === undefined) return null
  // No key of a number in E.164 begins like this.
  const key = `unparsed:${digits.replace(/\D/g, '')}`
  return { number, key: extension === undefined ? key : `${key};ext=${extension}` }
}

/** The key of a phone number, with or without its country code; null for other text. */
export const toPhoneNumberKey = (text: string): string | null => toStoredPhoneNumber(text)?.key ?? null

/** The countries that a number in E.164 may belong to; none for numbers of no country, as of satellites. */
export function listPossibleCountries(number: string): Country[] {
  const parsed = parsePhoneNumberFromString(number)
  return parsed?.country ? [parsed.country] : (parsed?.getPossibleCountries() ?? [])
}

/** A number in E.164 as users read it: `+41 79 123 45 67`. Other text is returned unchanged. */
export const formatPhoneNumber = (number: string): string =>
  parsePhoneNumberFromString(number)?.formatInternational() ?? number
