import { isIP, isIPv4 } from 'node:net'

/** A listener on both families shows IPv4 peers as these, which URL writes in hexadecimal. */
const MAPPED = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/

/**
 * An IP address in its one spelling (RFC 5952; an IPv4-mapped one as IPv4, without a zone), so that addresses can be
 * compared; null for what is none.
 */
export function normalIp(text: string): string | null {
  if (isIPv4(text)) return text
  if (isIP(text) === 0) return null
  const [address = ''] = text.split('%')
  const normal = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const [, high, low] = MAPPED.exec(normal) ?? []
  if (high === undefined || low === undefined) return normal
  const bits = [high, low].map((part) => Number.parseInt(part, 16))
  return bits.flatMap((part) => [part >> 8, part & 255]).join('.')
}
