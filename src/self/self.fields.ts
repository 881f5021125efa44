import { z } from 'zod'
import { expectedUpdatedAt } from '../expected-updated-at.ts'
import { boolean, requiredText } from '../fields.ts'
import { addressOf, type Channel } from '../passcodes/passcodes.fields.ts'
import { FIELDS } from '../users/users.fields.ts'

/**
 * What a person may write about themselves: nothing that decides who gets into the account or what they may do there, and
 * nothing of the applications' (security 14, 15). Addresses are changed by proving them.
 */
export const OWN_FIELDS = [
  'name',
  'givenName',
  'familyName',
  'middleName',
  'nickname',
  'preferredUsername',
  'profile',
  'picture',
  'website',
  'gender',
  'birthdate',
  'zoneinfo',
  'locale',
  'address',
  'userMetadata',
] as const satisfies readonly (keyof typeof FIELDS)[]
type OwnField = (typeof OWN_FIELDS)[number]

const ownShapes = Object.fromEntries(OWN_FIELDS.map((name) => [name, FIELDS[name].shape])) as {
  [Name in OwnField]: (typeof FIELDS)[Name]['shape']
}
/** Input of updateViewer: omitted is unchanged, '' and null unset. */
export const OwnProfilePatch = z.strictObject({ ...ownShapes, expectedUpdatedAt }, 'must be an object')

/** The field that an address of each kind is given in, here and in the user. */
export const ADDRESS_FIELD = { email: 'email', sms: 'phoneNumber' } as const satisfies Record<Channel, string>

const FAULTS: Record<Channel, string> = {
  email: 'must be an e-mail address',
  sms: 'must be a phone number with its country code, such as +41791234567',
}

/** An address that a code can be sent to. */
const newAddress = (channel: Channel) =>
  requiredText(254).transform((to, context) => {
    const address = addressOf(to)
    if (address?.channel === channel) return address
    context.addIssue(FAULTS[channel])
    return z.NEVER
  })

const code = requiredText(100)
export const RequestAddressChange = {
  email: z.strictObject({ email: newAddress('email') }),
  sms: z.strictObject({ phoneNumber: newAddress('sms') }),
}
export const ConfirmAddressChange = {
  email: z.strictObject({ email: newAddress('email'), code }),
  sms: z.strictObject({ phoneNumber: newAddress('sms'), code }),
}
export const RemovePhoneNumber = z.strictObject({ phoneNumber: requiredText(100) })

export const RevokeViewerSessions = z.strictObject({ includeCurrent: boolean.nullish() })
