import { cutName, isolateName } from './names.ts'

/** The default alphabet of GSM (3GPP TS 23.038, section 6.2.1), and its extension of two septets each. */
const GSM_BASIC = new Set(
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà',
)
const GSM_EXTENSION = new Set('\f^{}\\[~]|€')
const SEGMENT_SEPTETS = 160
/** One character outside of the alphabet makes the whole message UCS-2. */
const SEGMENT_UCS2 = 70

/** Whether a text message is sent as one segment. Longer ones cost more and may arrive in parts. */
export function isOneSegment(text: string): boolean {
  let septets = 0
  for (const character of text) {
    if (GSM_BASIC.has(character)) septets += 1
    else if (GSM_EXTENSION.has(character)) septets += 2
    else return text.length <= SEGMENT_UCS2
  }
  return septets <= SEGMENT_SEPTETS
}

/** A text with names, and the length from which on its names may be cut. */
export type SmsVariant = { keep: number; write: (...names: string[]) => string }

/** Characters of print, and what the alphabet has instead: one of them would make the whole message UCS-2. */
const GSM_SUBSTITUTES: Record<string, string> = {
  '‘': "'",
  '’': "'",
  '“': '"',
  '”': '"',
  '–': '-',
  '\u00a0': ' ',
  '\u202f': ' ',
}
const PRINT_CHARACTERS = new RegExp(`[${Object.keys(GSM_SUBSTITUTES).join('')}]`, 'g')
const toSmsText = (text: string): string =>
  text.replace(PRINT_CHARACTERS, (character) => GSM_SUBSTITUTES[character] ?? character)

/**
 * The first variant that fits in one segment, with names that are cut if necessary; the last one if none
 * does.
 */
export function composeSms(
  names: readonly string[],
  direction: 'ltr' | 'rtl',
  variants: readonly SmsVariant[],
): string {
  let text = ''
  const longest = Math.max(0, ...names.map((name) => name.length))
  for (const { keep, write } of variants)
    for (let length = Math.max(longest, keep); length >= keep; length--) {
      const cut = names.map((name) => cutName(name, (start) => start.length <= length))
      text = toSmsText(write(...cut.map((name) => isolateName(name, direction))))
      if (isOneSegment(text)) return text
    }
  return text
}
