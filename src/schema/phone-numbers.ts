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

/**
 * The stored form of a phone number, which is also its key: E.164, with an extension as `;ext=` (RFC 3966).
 * Null unless `text` has a country code and a length that is possible there, or is a number in the national
 * form of one of `countries`. Of several readings, a mobile number comes first, then a valid number, then the
 * order of `countries`.
 */
export function parsePhoneNumber(text: string, countries: readonly Country[] = []): string | null {
  const given = cleanTypedText(text)
  if (given.length > PHONE_NUMBER_LENGTH || /\p{C}/u.test(given)) return null
  const normal = given.replace(/^tel:/i, '')
  const [international] = parsePossible(normal)
  const readings = international
    ? [international]
    : countries.flatMap((country) => parsePossible(normal, country))
  const number = readings.find(isMobile) ?? readings.find((reading) => reading.isValid()) ?? readings[0]
  if (!number) return null
  return number.ext ? `${number.number};ext=${number.ext}` : number.number
}

/** The countries that a number in E.164 may belong to; none for numbers of no country, as of satellites. */
export function listPossibleCountries(number: string): Country[] {
  const parsed = parsePhoneNumberFromString(number)
  return parsed?.country ? [parsed.country] : (parsed?.getPossibleCountries() ?? [])
}

/** A number in E.164 as users read it: `+41 79 123 45 67`. Other text is returned unchanged. */
export const formatPhoneNumber = (number: string): string =>
  parsePhoneNumberFromString(number)?.formatInternational() ?? number
