import { randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

/** Every API key begins with it, so that scanners of source code find keys. */
const PREFIX = 'vstb_'
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** 43 digits of base 62 have 256 bits. */
const SECRET_LENGTH = 43
/** 62^6 is more than 2^32. */
const CHECKSUM_LENGTH = 6
/** The prefix and the four characters by which people recognize a key. */
const START_LENGTH = PREFIX.length + 4

/** The syntax of an API key. Scanners search for it; docs/api-keys.md has it. */
const KEY_SYNTAX = new RegExp(`^${PREFIX}[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`)

/** The CRC-32 of a text in base 62. */
function computeChecksum(text: string): string {
  let rest = crc32(text)
  let digits = ''
  for (let place = 0; place < CHECKSUM_LENGTH; place++) {
    digits = ALPHABET.charAt(rest % ALPHABET.length) + digits
    rest = Math.floor(rest / ALPHABET.length)
  }
  return digits
}

/** Creates an API key: the prefix, 256 random bits and a checksum of both. */
export function createKeyText(): string {
  const digits = Array.from({ length: SECRET_LENGTH }, () => ALPHABET.charAt(randomInt(ALPHABET.length)))
  const body = PREFIX + digits.join('')
  return body + computeChecksum(body)
}

/** Whether a text looks like an API key, in whatever it ends. No JWT and no other token begins so. */
export const hasKeyPrefix = (text: string): boolean => text.startsWith(PREFIX)

/** Whether a text is an API key that may exist: typing errors are found without the database. */
export const isKeyText = (text: string): boolean =>
  KEY_SYNTAX.test(text) && text.endsWith(computeChecksum(text.slice(0, -CHECKSUM_LENGTH)))

/** The part of a key that is stored and shown. */
export const getKeyStart = (text: string): string => text.slice(0, START_LENGTH)
