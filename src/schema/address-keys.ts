import { domainToASCII, domainToUnicode } from 'node:url'
import { parseIp } from '../core/network/ip.ts'
import { cleanTypedEmail } from '../core/typed-text.ts'
import { parsePhoneNumber } from './phone-numbers.ts'

/** RFC 5321, section 4.5.3.1: a path has 256 octets with its angle brackets, a local part 64. */
const EMAIL_OCTETS = 254
const LOCAL_PART_OCTETS = 64
const DOMAIN_OCTETS = 253
/**
 * atext of RFC 5322, with the letters, digits, marks and symbols of RFC 6532; nothing invisible, no white
 * space.
 */
const ATOM = /^(?:[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]|[^\p{ASCII}\p{C}\p{Z}\p{Default_Ignorable_Code_Point}])+$/u
const isDotAtom = (text: string): boolean => text.split('.').every((atom) => ATOM.test(atom))
const QUOTED_CHARACTER = /^[\x20-\x7e]$|^[^\p{ASCII}\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]$/u
const DOMAIN = /^[\p{L}\p{M}\p{N}.-]+$/u
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
/** dtext of RFC 5322 without folding. */
const LITERAL = /^\[[\x21-\x5a\x5e-\x7e]+\]$/

/** Splits at the @ after the local part. A quoted local part is returned without quotes and backslashes. */
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

function toDomainKey(domain: string): string | null {
  if (LITERAL.test(domain)) return toLiteralKey(domain.slice(1, -1).toLowerCase())
  if (!DOMAIN.test(domain)) return null
  const ascii = domainToASCII(domain)
  const labels = ascii.split('.')
  // A last label of digits would be an IPv4 address, which addr-spec writes in brackets.
  if (
    ascii.length > DOMAIN_OCTETS ||
    // A label that is not Punycode stays as it is; Node 24 does not reject it.
    /(^|\.)xn--/.test(domainToUnicode(ascii)) ||
    !labels.every((label) => LABEL.test(label)) ||
    /^[0-9]+$/.test(labels.at(-1) ?? '')
  )
    return null
  return ascii
}

/** RFC 5321, section 4.1.3: an IPv4 address, or `IPv6:` and an IPv6 address in its canonical form. */
function toLiteralKey(literal: string): string | null {
  if (literal.includes('%')) return null
  const isIpv6 = literal.startsWith('ipv6:')
  const address = parseIp(isIpv6 ? literal.slice(5) : literal)
  if (address?.kind() !== (isIpv6 ? 'ipv6' : 'ipv4')) return null
  return isIpv6 ? `[ipv6:${address}]` : `[${address}]`
}

/** Folds case. Both forms of the small sigma are one letter. */
const foldCase = (text: string): string => text.toLowerCase().replaceAll('ς', 'σ').normalize('NFC')

/**
 * The key by which e-mail addresses are compared: NFC, lower case, the domain in IDNA, without unnecessary
 * quotes. Null when `text` is not an addr-spec (RFC 5322, section 3.4.1, with RFC 6532; without comments and
 * folding), or contains compatibility characters such as full-width letters, which would make a second
 * address that looks the same.
 */
export function toEmailKey(text: string): string | null {
  if (Buffer.byteLength(text) > EMAIL_OCTETS || !text.isWellFormed()) return null
  const address = text.normalize('NFC')
  if (address !== text.normalize('NFKC')) return null
  const parts = splitAddress(address)
  if (!parts || Buffer.byteLength(parts.local) > LOCAL_PART_OCTETS) return null
  const isAtom = isDotAtom(parts.local)
  if (!isAtom && !parts.isQuoted) return null
  const domain = toDomainKey(parts.domain)
  const local = isAtom ? parts.local : `"${parts.local.replace(/["\\]/g, '\\$&')}"`
  return domain && `${foldCase(local)}@${domain}`
}

/** Whether a typed text is meant as an e-mail address, and not as a phone number. */
export const isEmailLike = (text: string): boolean => /[@\uff20\ufe6b]/.test(text)

/** The key of a typed e-mail address or phone number with its country code; null for any other text. */
export const toAddressKey = (text: string): string | null =>
  isEmailLike(text) ? toEmailKey(cleanTypedEmail(text)) : parsePhoneNumber(text)
