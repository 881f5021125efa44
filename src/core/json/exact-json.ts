/**
 * JSON texts whose numbers keep their value. JSON.parse rounds a number to the nearest double, silently, and does not
 * give its text. A number that would change is replaced in the text by one beyond all doubles, which becomes Infinity:
 * the shape that validates the value rejects it, and knows its path.
 */

/**
 * Numbers of fewer characters have at most 15 digits and no exponent, and never change. A number follows a bracket, comma,
 * colon or white space; many opaque strings contain one in their middle.
 */
const MAY_CHANGE = /(?:^|[[,:\s])-?(?:[\d.]{16}|[\d.]+[eE])/
/** Strings and numbers. A string that does not end takes the rest, so that no character is looked at twice. */
const TOKENS = /"(?:[^"\\]|\\[\s\S]?)*(?:"|$)|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/g
/** Up to 15 digits with a small exponent, which a double always keeps. */
const SHORT_NUMBER = /^[-\d.]{1,15}(?:[eE][+-]?\d{1,2})?$/
const BEYOND_DOUBLES = '1e999'

/** The significant digits of a decimal number, and the power of ten of the first. */
function toScientific(text: string): string {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.')
  const digits = whole + fraction
  const first = digits.search(/[1-9]/)
  if (first === -1) return '0'
  // A pattern such as /0+$/ would look at each run of zeros from each of its zeros: seconds for 100 KB.
  let end = digits.length
  while (digits[end - 1] === '0') end -= 1
  const isNegative = text.startsWith('-')
  const power = Number(exponent) + whole.length - first
  return `${isNegative ? '-' : ''}${digits.slice(first, end)}e${power}`
}

/** Whether a number is the same decimal number when it is written again. */
export function isExactNumber(text: string): boolean {
  if (SHORT_NUMBER.test(text)) return true
  const value = Number(text)
  return Number.isFinite(value) && toScientific(text) === toScientific(String(value))
}

/** The text with every number that would change replaced. Text that is not JSON stays so. */
export const markChangedNumbers = (text: string): string =>
  MAY_CHANGE.test(text)
    ? text.replace(TOKENS, (token) =>
        token.startsWith('"') || isExactNumber(token) ? token : BEYOND_DOUBLES,
      )
    : text

/** Parses JSON; a number that would change becomes Infinity. Throws SyntaxError. */
export const parseExactJson = (text: string): unknown => JSON.parse(markChangedNumbers(text))
