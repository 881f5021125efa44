import { computeMac, computeMacs, equalsConstantTime } from '../core/crypto.ts'
import type { PasscodeAddress } from '../passcodes/passcodes.fields.ts'

/** Distinguishes these codes from sign-in passcodes, in their MAC and in the event log. */
export const CHANGE_CODE_PURPOSE = 'address-change'

/**
 * The user, the session that requested the change, and the new address. The code is valid only in that
 * session.
 */
export type AddressChangeRequest = { userId: string; sessionId: string; address: PasscodeAddress }

const toMacInput = (
  tenant: string,
  { userId, sessionId, address }: AddressChangeRequest,
  code: string,
): string => [tenant, userId, sessionId, address.key, code].join('\n')

/** The stored form of a code: a MAC under the server's key, bound to the change. */
export const hashChangeCode = (tenant: string, request: AddressChangeRequest, code: string): Buffer =>
  computeMac(CHANGE_CODE_PURPOSE, toMacInput(tenant, request, code))

/** Verifies a code in constant time, under all of the server's keys. */
export const isMatchingChangeCode = (
  tenant: string,
  request: AddressChangeRequest,
  code: string,
  codeHash: Buffer,
): boolean =>
  computeMacs(CHANGE_CODE_PURPOSE, toMacInput(tenant, request, code))
    .map((mac) => equalsConstantTime(mac, codeHash))
    .includes(true)
