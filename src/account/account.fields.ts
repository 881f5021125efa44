import * as z from 'zod'
import { type Channel, parseAddress } from '../passcodes/passcodes.fields.ts'
import { expectedUpdatedAt } from '../schema/expected-updated-at.ts'
import { boolean, requiredText } from '../schema/input-shapes.ts'
import { USER_FIELD_DEFINITIONS } from '../users/users.fields.ts'

/**
 * The fields that users may change themselves: none that decides who can sign in to the account or what it
 * permits, and none of the applications'. Addresses change only by verification.
 */
export const ACCOUNT_FIELDS = [
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
] as const satisfies readonly (keyof typeof USER_FIELD_DEFINITIONS)[]
type AccountField = (typeof ACCOUNT_FIELDS)[number]

const accountShapes = Object.fromEntries(
  ACCOUNT_FIELDS.map((name) => [name, USER_FIELD_DEFINITIONS[name].change]),
) as {
  [Name in AccountField]: (typeof USER_FIELD_DEFINITIONS)[Name]['change']
}

/** Input of updateViewer: omitted fields stay unchanged, null and, for text, '' unset a field. */
export const AccountPatch = z.strictObject({ ...accountShapes, expectedUpdatedAt }, 'must be an object')

/** The field of each kind of address, in these inputs and in the user. */
export const ADDRESS_FIELD = { email: 'email', sms: 'phoneNumber' } as const satisfies Record<Channel, string>

const ADDRESS_MESSAGES: Record<Channel, string> = {
  email: 'must be an e-mail address',
  sms: 'must be a phone number with its country code, such as +41791234567',
}

/** An address that a passcode can be sent to. */
const createNewAddressShape = (channel: Channel) =>
  requiredText(254).transform((to, context) => {
    const address = parseAddress(to)
    if (address?.channel === channel) return address
    context.addIssue(ADDRESS_MESSAGES[channel])
    return z.NEVER
  })

const code = requiredText(100)
export const RequestAddressChange = {
  email: z.strictObject({ email: createNewAddressShape('email') }),
  sms: z.strictObject({ phoneNumber: createNewAddressShape('sms') }),
}
export const ConfirmAddressChange = {
  email: z.strictObject({ email: createNewAddressShape('email'), code }),
  sms: z.strictObject({ phoneNumber: createNewAddressShape('sms'), code }),
}
export const RemovePhoneNumber = z.strictObject({ phoneNumber: requiredText(100) })

/** Input of createViewerTotp. */
export const CreateViewerTotp = z.strictObject({ accountName: requiredText(100).nullish() })
/** Input of confirmViewerTotp. */
export const ConfirmViewerTotp = z.strictObject({ token: requiredText(1000), code: requiredText(100) })
/** Input of createViewerRecoveryCodes. */
export const CreateViewerRecoveryCodes = z.strictObject({ replace: boolean.nullish() })

export const RevokeViewerSessions = z.strictObject({ includeCurrent: boolean.nullish() })
