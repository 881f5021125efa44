import { computeMac, computeMacs } from '../core/crypto.ts'

const PURPOSE = 'event-address'
const toMacInput = (tenant: string, addressKey: string): string => `${tenant}\n${addressKey}`

/**
 * The form in which the log stores the address of a failed sign-in: an HMAC under ENCRYPTION_KEY, because a
 * plain hash of an address is found by trying addresses. `addressKey` is the normalized address.
 * See docs/decisions/0069.
 */
export const hashAddress = (tenant: string, addressKey: string): Buffer =>
  computeMac(PURPOSE, toMacInput(tenant, addressKey))

/** The hashes of an address under every key of ENCRYPTION_KEY. */
export const listAddressHashes = (tenant: string, addressKey: string): Buffer[] =>
  computeMacs(PURPOSE, toMacInput(tenant, addressKey))
