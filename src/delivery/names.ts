/** Maximum length of a name in a message, in UTF-16 code units. */
const MAX_NAME_LENGTH = 60

const SEGMENTER = new Intl.Segmenter('en')

/** The longest start of a name, in whole graphemes, that `fits`. Nothing marks the cut. */
export function cutName(name: string, fits: (start: string) => boolean): string {
  let kept = ''
  for (const { segment } of SEGMENTER.segment(name)) {
    if (!fits(kept + segment)) break
    kept += segment
  }
  return kept.trimEnd()
}

/**
 * A name as messages contain it: one line of limited length without control characters, which would start
 * another line or header, and without invisible ones, which change the direction of the text around them.
 */
export function cleanName(name: string): string {
  const line = name
    .normalize('NFC')
    .replace(/(?![\u200c\u200d])\p{Cf}/gu, '')
    .replace(/[\s\p{Cc}\p{Cs}]+/gu, ' ')
    .trim()
  return cutName(line, (start) => start.length <= MAX_NAME_LENGTH)
}

/**
 * A cleaned name of a client, which may have registered itself. A space after each dot and colon keeps mail
 * programs and phones from turning the name into a link.
 */
export const cleanClientName = (name: string): string =>
  cleanName(cleanName(name).replace(/([.:\u3002\uff0e\uff61])(?=[^\s.])/gu, '$1 '))

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u

const LEFT_TO_RIGHT = /(?!\p{Script=Arabic}|\p{Script=Hebrew})\p{L}/u

/**
 * Isolates a name that is written in the other direction than the text around it (Unicode, UAX 9), so that the text
 * after it keeps its order.
 */
export const isolateName = (name: string, direction: 'ltr' | 'rtl' = 'ltr'): string =>
  (direction === 'ltr' ? RIGHT_TO_LEFT : LEFT_TO_RIGHT).test(name) ? `\u2068${name}\u2069` : name
