import { isIPv4, isIPv6 } from 'node:net'
import { domainToASCII } from 'node:url'
import { parsePhoneNumberFromString } from 'libphonenumber-js'

/** RFC 5321, section 4.5.3.1: a path has 256 octets with its angle brackets, a local part 64. */
const EMAIL_OCTETS = 254
const LOCAL_PART_OCTETS = 64
const DOMAIN_OCTETS = 253
/** atext of RFC 5322, with the letters, digits, marks and symbols of RFC 6532; nothing invisible, no white space. */
const ATOM = /^(?:[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]|[^\p{ASCII}\p{C}\p{Z}\p{Default_Ignorable_Code_Point}])+$/u
const isDotAtom = (text: string): boolean => text.split('.').every((atom) => ATOM.test(atom))
const QUOTED_CHARACTER = /^[\x20-\x7e]$|^[^\p{ASCII}\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]$/u
const DOMAIN = /^[\p{L}\p{M}\p{N}.-]+$/u
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
/** dtext of RFC 5322 without folding. */
const LITERAL = /^\[[\x21-\x5a\x5e-\x7e]+\]$/

/** Splits at the @ behind the local part. A quoted local part comes without its quotes and backslashes. */
function splitAddress(address: string): { local: string; isQuoted: boolean; domain: string } | null {
  if (!address.startsWith('"')) {
    const at = address.indexOf('@')
    return at < 1 ? null : { local: address.slice(0, at), isQuoted: false, domain: address.slice(at + 1) }
  }
  let local = ''
  const characters = [...address]
  for (let i = 1; i < characters.length; i++) {
    if (characters[i] === '"')
      return characters[i + 1] === '@'
        ? { local, isQuoted: true, domain: characters.slice(i + 2).join('') }
        : null
    if (characters[i] === '\\') i++
    const character = characters[i] ?? ''
    if (!QUOTED_CHARACTER.test(character)) return null
    local += character
  }
  return null
}

function domainKeyOf(domain: string): string | null {
  if (LITERAL.test(domain)) return literalKeyOf(domain.slice(1, -1).toLowerCase())
  if (!DOMAIN.test(domain)) return null
  const ascii = domainToASCII(domain)
  const labels = ascii.split('.')
  // A last label of digits would be an IPv4 address, which addr-spec writes in brackets.
  if (
    ascii.length > DOMAIN_OCTETS ||
    !labels.every((label) => LABEL.test(label)) ||
    /^[0-9]+$/.test(labels.at(-1) ?? '')
  )
    return null
  return ascii
}

/** RFC 5321, section 4.1.3: an IPv4 address, or `IPv6:` and an IPv6 address, which has one shortest form. */
function literalKeyOf(literal: string): string | null {
  if (isIPv4(literal)) return `[${literal}]`
  const ipv6 = literal.startsWith('ipv6:') ? literal.slice(5) : ''
  return isIPv6(ipv6) && !ipv6.includes('%')
    ? `[ipv6:${new URL(`http://[${ipv6}]`).hostname.slice(1, -1)}]`
    : null
}

/** One spelling for upper and lower case; both forms of the small sigma are one letter. */
const foldCase = (text: string): string => text.toLowerCase().replaceAll('ς', 'σ').normalize('NFC')

/**
 * What e-mail addresses are compared by: NFC, lower case, the domain in IDNA, needless quotes away. Null when `text`
 * is no addr-spec (RFC 5322, section 3.4.1, with RFC 6532; without comments and folding) or holds characters that
 * only look like others, such as full-width ones: those must not make a second address of the same looks.
 */
export function emailKeyOf(text: string): string | null {
  if (Buffer.byteLength(text) > EMAIL_OCTETS || !text.isWellFormed()) return null
  const address = text.normalize('NFC')
  if (address !== text.normalize('NFKC')) return null
  const parts = splitAddress(address)
  if (!parts || Buffer.byteLength(parts.local) > LOCAL_PART_OCTETS) return null
  const isAtom = isDotAtom(parts.local)
  if (!isAtom && !parts.isQuoted) return null
  const domain = domainKeyOf(parts.domain)
  const local = isAtom ? parts.local : `"${parts.local.replace(/["\\]/g, '\\$&')}"`
  return domain && `${foldCase(local)}@${domain}`
}

export type PhoneNumber = {
  /** E.164 with `;ext=` (RFC 3966) when it parses, else as given. */
  shown: string
  /** What numbers are compared by. */
  key: string
  /** Only numbers in E.164 can be sent a code. */
  canBeVerified: boolean
}

/** What an e-mail address or a phone number with its country is compared by, whichever it is; null for anything else. */
export function addressKeyOf(text: string): string | null {
  if (text.includes('@')) return emailKeyOf(text.trim())
  const number = phoneNumberOf(text)
  return number?.canBeVerified ? number.key : null
}

/** Longer than any number with its extension and punctuation. */
const PHONE_NUMBER_LENGTH = 100

/** A phone number as it is stored; null when `text` is blank, too long or has control characters. */
export function phoneNumberOf(text: string): PhoneNumber | null {
  const given = text.trim()
  if (given === '' || given.length > PHONE_NUMBER_LENGTH || /\p{C}/u.test(given)) return null
  const normal = given.normalize('NFKC').replace(/\s+/g, ' ')
  const parsed = parsePhoneNumberFromString(normal.replace(/^tel:/i, ''), { extract: false })
  if (!parsed?.isPossible())
    return { shown: given, key: `unparsed:${normal.toLowerCase()}`, canBeVerified: false }
  const number = parsed.ext ? `${parsed.number};ext=${parsed.ext}` : parsed.number
  return { shown: number, key: number, canBeVerified: true }
}
