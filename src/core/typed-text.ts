/**
 * Characters that nobody sees: marks of direction (U+202A to U+202E, U+2066 to U+2069), zero-width spaces and joiners,
 * variation selectors, fillers. They are copied with a text, as from an address book.
 */
const UNSEEN = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu
/** Joiners are of use between letters of some scripts only (RFC 5892, appendices A.1 and A.2). */
const JOINERS = /[\u200c\u200d]/g
const UNSEEN_BUT_JOINERS = /(?![\u200c\u200d])[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu

/** Dashes, and signs that keyboards and IMEs offer in their place: minus, hyphen bullet, the long vowel of katakana. */
const DASH = /[\p{Pd}\u02d7\u2043\u2212\u2500\u30fc]/gu
const OTHER_DIGIT = /(?![0-9])\p{Nd}/gu
const isDigit = (codePoint: number): boolean => /\p{Nd}/u.test(String.fromCodePoint(codePoint))

/** The value of a digit of any script: each script has ten in a row, the zero first. */
function toAsciiDigit(digit: string): string {
  const codePoint = digit.codePointAt(0) ?? 0
  let zero = codePoint
  while (isDigit(zero - 1)) zero--
  return String((codePoint - zero) % 10)
}

/**
 * Text as a person means it who types or pastes it: NFKC, digits of any script as 0 to 9, any dash as `-`, runs of white
 * space as one space, none around it, nothing unseen. What is compared or judged comes from here; what is stored
 * has its own, stricter rules. See docs/decisions/0128.
 */
export const cleanTypedText = (text: string): string =>
  text
    .normalize('NFKC')
    .replace(UNSEEN, '')
    .replace(OTHER_DIGIT, toAsciiDigit)
    .replace(DASH, '-')
    .replace(/\s+/g, ' ')
    .trim()

/** A code as a person means it: also without spaces and dashes, which divide it into groups. */
export const cleanTypedCode = (text: string): string => cleanTypedText(text).replace(/[ -]/g, '')

/** Full-width forms of ASCII, and the full stops of CJK keyboards. */
const WIDE = /[\uff01-\uff5e]/g
const WIDE_STOP = /[\u3002\uff61]/g
const WIDE_OFFSET = 0xfee0
const ASCII = /^\p{ASCII}*$/u

/**
 * An e-mail address as a person means it: without white space around it and without unseen characters, and ASCII where
 * a keyboard wrote it in full width (RFC 8264, section 5.2.1; RFC 5895, section 2). Letters and digits are not folded
 * otherwise, because another spelling may be the address of another person.
 */
export function cleanTypedEmail(text: string): string {
  if (ASCII.test(text)) return text.trim()
  const cleaned = text
    .replace(UNSEEN_BUT_JOINERS, '')
    .replace(WIDE, (wide) => String.fromCharCode(wide.charCodeAt(0) - WIDE_OFFSET))
    .replace(WIDE_STOP, '.')
    .trim()
  const joined = cleaned.replace(JOINERS, '')
  // Between letters of other scripts, a joiner makes another name.
  return ASCII.test(joined) ? joined : cleaned
}
