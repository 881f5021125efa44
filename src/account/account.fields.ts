import * as z from 'zod'
import { PROFILE_FIELD_NAMES, type ProfileField } from '../model/profile-fields.ts'
import { type Channel, parseAddress } from '../passcodes/passcodes.fields.ts'
import { expectedUpdatedAt } from '../schema/expected-updated-at.ts'
import { asFormat, textIn } from '../schema/formats.ts'
import { boolean, requiredText } from '../schema/input-shapes.ts'
import { instantShape } from '../schema/response-shapes.ts'
import { USER_FIELD_DEFINITIONS } from '../users/users.fields.ts'

type AccountField = ProfileField | 'address' | 'userMetadata'
/**
 * The fields that users may change themselves: none that decides who can sign in to the account or what it
 * permits, and none of the applications'. Addresses change only by verification.
 */
export const ACCOUNT_FIELDS: readonly AccountField[] = [...PROFILE_FIELD_NAMES, 'address', 'userMetadata']

const accountShapes = Object.fromEntries(
  ACCOUNT_FIELDS.map((name) => [name, USER_FIELD_DEFINITIONS[name].change]),
) as {
  [Name in AccountField]: (typeof USER_FIELD_DEFINITIONS)[Name]['change']
}

/** Input of updateViewer: omitted fields stay unchanged, null and, for text, '' unset a field. */
export const AccountPatch = z
  .strictObject({ ...accountShapes, expectedUpdatedAt }, 'must be an object')
  .meta({ model: 'User' })

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

const NEW_ADDRESSES = {
  email: {
    email: asFormat(createNewAddressShape('email'), 'email').meta({ description: 'The new e-mail address.' }),
  },
  sms: {
    phoneNumber: asFormat(createNewAddressShape('sms'), 'phone').meta({
      description: 'The new phone number, with its country code.',
    }),
  },
}
export const RequestAddressChange = {
  email: z.strictObject(NEW_ADDRESSES.email),
  sms: z.strictObject(NEW_ADDRESSES.sms),
}
const code = requiredText(100)
const sentCode = code.meta({ description: 'The code that was sent to it.' })
export const ConfirmAddressChange = {
  email: z.strictObject({ ...NEW_ADDRESSES.email, code: sentCode }),
  sms: z.strictObject({ ...NEW_ADDRESSES.sms, code: sentCode }),
}
export const RemovePhoneNumber = z.strictObject({
  phoneNumber: asFormat(requiredText(100), 'any-phone').meta({
    description: 'The current phone number, as a confirmation.',
  }),
})
/** The members of the result of a request. */
export const REQUESTED_ADDRESS_CHANGE = {
  sentTo: z.string().meta({
    description:
      'The requested address. No code is sent to the address of another user, which the response does not reveal.',
  }),
}

/** The request of a user to be deleted. */
export const AccountDeletionShape = z
  .object({
    requestedAt: instantShape.meta({ description: 'When the user asked for it.' }),
    dueAt: instantShape.meta({
      description: 'From when on the user is deleted. Until then the user can cancel it.',
    }),
  })
  .meta({ id: 'AccountDeletion', description: 'The request of a user to be deleted.' })

/** The answer of `GET /users/:userId/deletion`. */
export const UserDeletionShape = z
  .object({
    deletion: AccountDeletionShape.nullable().meta({ description: 'The request; null without one.' }),
  })
  .meta({ id: 'UserDeletion', description: 'Whether a user asked to be deleted.' })

/** Input of setViewerDeletion. */
export const SetViewerDeletion = z.strictObject({
  requested: boolean.meta({
    description: 'true requests the deletion, unless it is requested already; false cancels the request.',
  }),
})

/** Input of createViewerTotp. */
export const CreateViewerTotp = z.strictObject({
  accountName: requiredText(100).nullish().meta({
    description: "The name of the account in the app; the user's e-mail address when omitted.",
  }),
})
/** A key for an authenticator app. */
export const TotpEnrollmentShape = z.object({
  token: z.string().meta({ description: 'For confirmViewerTotp, in the same session, within 15 minutes.' }),
  secret: z.string().meta({ description: 'The key in base32, for entry by hand. It is shown only once.' }),
  uri: textIn('uri').meta({ description: 'The otpauth URI, which opens an app on the same device.' }),
  qrCode: z.string().meta({ description: 'The URI as a QR code: an SVG document.' }),
})
/** Input of confirmViewerTotp. */
export const ConfirmViewerTotp = z.strictObject({
  token: requiredText(1000).meta({ description: 'The token of createViewerTotp.' }),
  code: code.meta({ description: 'The code that the app shows.' }),
})
/** Input of createViewerRecoveryCodes. */
export const CreateViewerRecoveryCodes = z.strictObject({
  replace: boolean.nullish().meta({
    description: 'True to replace existing codes, which are then no longer accepted; CONFLICT otherwise.',
  }),
})
export const recoveryCodes = z
  .array(z.string())
  .meta({ description: 'The ten codes. Each is accepted once. They are shown only once.' })

export const RevokeViewerSessions = z.strictObject({
  includeCurrent: boolean.nullish().meta({
    description: 'Also end the session that the access token depends on, and with it the token.',
  }),
})
