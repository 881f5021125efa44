import { isIP, isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'

export type IpAddress = ipaddr.IPv4 | ipaddr.IPv6

/** An IPv4 or IPv6 address without its zone, or null. `toString` spells IPv6 as RFC 5952 does. */
export function parseIp(text: string): IpAddress | null {
  // ipaddr.js also reads short, octal and hexadecimal notations of IPv4, and takes ::192.0.2.1 for
  // ::ffff:192.0.2.1.
  return isIP(text) === 0 ? null : ipaddr.parse(text.replace(/%.*$/, '').replace(/^::(?=\d+\.)/, '::0:'))
}

/**
 * Parses an address, an IPv4-mapped one as IPv4: a listener on both families shows IPv4 peers as mapped ones.
 */
function parseUnmapped(text: string): IpAddress | null {
  const address = parseIp(text)
  return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address
}

/**
 * The canonical spelling of an IP address (RFC 5952; IPv4-mapped as IPv4, no zone), for comparisons; null for
 * other text.
 */
export const normalizeIp = (text: string): string | null =>
  // Here and below: Node accepts one spelling of IPv4 only, which is the canonical one.
  isIPv4(text) ? text : (parseUnmapped(text)?.toString() ?? null)

/** A network in CIDR notation (RFC 4632) without leading zeros. */
const CIDR = /^([^/]+)\/(0|[1-9]\d{0,2})$/

/**
 * The canonical spelling of an IP address, as `normalizeIp` returns it, or of a network in CIDR notation; null for other
 * text. Bits of the host are cleared.
 */
export function normalizeNetwork(text: string): string | null {
  const [, given = text, length] = CIDR.exec(text) ?? []
  const address = parseUnmapped(given)
  if (length === undefined || address === null) return address?.toString() ?? null
  const isMapped = address.kind() !== parseIp(given)?.kind()
  const bits = Number(length) - (isMapped ? 96 : 0)
  const size = 8 * address.toByteArray().length
  if (bits < 0 || bits > size) return null
  const first = (address instanceof ipaddr.IPv4 ? ipaddr.IPv4 : ipaddr.IPv6).networkAddressFromCIDR(
    `${address}/${bits}`,
  )
  return bits === size ? first.toString() : `${first}/${bits}`
}

/** Whether an address is a network of `normalizeNetwork`, or in it. Addresses are in their canonical spelling. */
export function createNetworkMatcher(network: string): (ip: string | null) => boolean {
  if (!network.includes('/')) return (ip) => ip === network
  const [first, bits] = ipaddr.parseCIDR(network)
  return (ip) => {
    const address = ip === null ? null : ipaddr.parse(ip)
    return address?.kind() === first.kind() && address.match(first, bits)
  }
}

const toPrefix = (address: ipaddr.IPv6, groups: number): string =>
  `${address.parts
    .slice(0, groups)
    .map((group) => group.toString(16))
    .join(':')}::/${groups * 16}`

/**
 * The network that a limit counts: an IPv4 address, or the /64 of an IPv6 address, which belongs to one
 * customer. All text that is not an address counts as one network, so that no spelling escapes a limit.
 */
export function toNetwork(ip: string | null): string {
  if (ip !== null && isIPv4(ip)) return ip
  const address = ip === null ? null : parseUnmapped(ip)
  return address instanceof ipaddr.IPv6 ? toPrefix(address, 4) : (address?.toString() ?? 'unknown')
}

/** The /48 of an IPv6 address: one customer may have 65,536 networks. Null for all else. */
export function toSite(ip: string | null): string | null {
  if (ip !== null && isIPv4(ip)) return null
  const address = ip === null ? null : parseUnmapped(ip)
  return address instanceof ipaddr.IPv6 ? toPrefix(address, 3) : null
}

/** The part of IPv6 that is routed worldwide. Addresses outside it may embed an IPv4 address. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3')

/** Whether an address is on the public internet: not private, loopback, link-local, shared or reserved. */
export function isPublicAddress(text: string): boolean {
  const address = parseUnmapped(text)
  if (address?.range() !== 'unicast') return false
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL_IPV6)
}
